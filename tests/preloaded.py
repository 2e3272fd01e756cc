"""What a warm process has loaded; see `warm_python`."""

import warm_up

warm_up.compile_everything()
