#!/usr/bin/env bash
# Gradescope runs this once, as root, when it builds the image: it installs Python and knightfall.
set -euo pipefail

apt-get update
apt-get install -y python3 python3-venv bubblewrap

python=python3
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then # as on Ubuntu 22.04
    apt-get install -y python3.11 python3.11-venv
    python=python3.11
fi

"$python" -m venv /autograder/venv
/autograder/venv/bin/pip install /autograder/source/knightfall-*.whl
/autograder/venv/bin/knightfall --version
