"""What holds for the whole suite."""

from __future__ import annotations

import signal

# A shell starts background jobs with Ctrl-C ignored, and every process they start inherits that.
# The tests interrupt processes of their own, so they must not.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
