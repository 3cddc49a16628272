#!/usr/bin/env bash
# A Python 3.12 environment with srbf, its data package and this project:
#     notebooks/benchmarks/srbf/environment.sh FOLDER [PYTHON]
# PYTHON is a Python 3.12 or newer (default python3.12). Torch is what srbf's metrics import; any
# build will do, and on Linux the one without CUDA is smaller.
set -euo pipefail
folder=${1:?a folder for the environment}
"${2:-python3.12}" -m venv "$folder"
"$folder/bin/pip" install --quiet "srbf==0.21" "symbolic-data==0.18" "simplipy==0.14.7" \
    "torch>=2.9,<2.14" --editable "$(dirname "$0")/../../.."
"$folder/bin/python" -c "import srbf, symreg; print('srbf', srbf.__version__)"
