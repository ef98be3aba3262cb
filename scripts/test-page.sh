#!/usr/bin/env bash
# Uses the page of cdtquery look and cdtquery serve in Chromium, as a person does. With RECORD_IMAGES=1 the pictures of docs/look.md
# are written, and with RECORD_STRUCTURE=1 what each view has and where, Tests/Page/structure.json, which is compared otherwise. Arguments
# name tests, such as test_query_form.QueryFormOnPhone.test_query_is_copied. With CDTQUERY, a program that was built before is used.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install-packages.sh python3 python3-venv chromium-headless-shell chromium-driver
python3 -m venv .build/page
.build/page/bin/pip install --quiet --disable-pip-version-check --requirement Tests/Page/requirements.txt
if [ -z "${CDTQUERY:-}" ]; then
  swift=${SWIFT:-swift}
  SWIFT=$swift scripts/build-tests.sh
  CDTQUERY=$("$swift" build --show-bin-path)/cdtquery
fi
export CDTQUERY PYTHONDONTWRITEBYTECODE=1
cd Tests/Page
exec ../../.build/page/bin/python run.py "$@"
