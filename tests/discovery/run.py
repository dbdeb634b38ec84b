"""Devices are found by their names, in a network of their own. To be started by run.sh, which has what it needs:

    run.py sim | BASE_URL [CASE...]
"""

import os
import sys
import time
import traceback

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "hostile"))

import avahi_cases
import board_cases
import sim_cases
import wires
from house import Skip
from namespace import enter


def main():
    where, *names = sys.argv[1:]
    if where == "sim":
        enter("MOTE_DISCOVERY_INSIDE", "nsenter")
        house = wires.lay()
        cases = [*sim_cases.CASES, *avahi_cases.CASES]
    else:
        house = wires.at_board(where)
        cases = board_cases.CASES
    failed = skipped = passed = 0
    for case in cases:
        if names and case.__name__ not in names:
            continue
        begun = time.monotonic()
        try:
            case(house)
            passed += 1
            print(f"ok    {case.__name__} ({time.monotonic() - begun:.1f} s)", flush=True)
        except Skip as missing:
            skipped += 1
            print(f"skip  {case.__name__}: {missing}", flush=True)
        except Exception:
            failed += 1
            print(f"FAIL  {case.__name__}", flush=True)
            traceback.print_exc()
            house.tell_logs()
        finally:
            house.after()
    house.close()
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    sys.exit(1 if failed or not passed else 77 if skipped else 0)


if __name__ == "__main__":
    main()
