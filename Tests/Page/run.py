"""Runs the tests of the page in several processes, each with a browser of its own: all, or those that the arguments name as for unittest.

A process takes the next class when it is done with one. What failed is printed at once, and its classes are named again at the end.
"""

import io
import multiprocessing
import os
import queue
import sys
import time
import unittest

# A browser also waits, so one more than there are cores takes less time.
PROCESSES = 1 + (os.cpu_count() or 1)


def classes(names):
    """The suites of the classes, those that take longest first: test_views, whose tests go through all views, then by the number of tests."""
    loader = unittest.defaultTestLoader
    suites, found = [loader.loadTestsFromNames(names) if names else loader.discover(".")], {}
    while suites:
        for part in suites.pop():
            if isinstance(part, unittest.TestSuite):
                suites.append(part)
            elif part.id() not in (test.id() for test in found.setdefault(part.id().rpartition(".")[0], [])):
                found[part.id().rpartition(".")[0]].append(part)
    return sorted(found.items(), key=lambda item: (not item[0].startswith("test_views."), -len(item[1])))


def work(names, waiting, done):
    """Runs the classes whose numbers come, until there are no more."""
    import page
    found = classes(names)
    try:
        for number in iter(waiting.get, None):
            name, tests = found[number]
            output, start = io.StringIO(), time.monotonic()
            result = unittest.TextTestRunner(output, verbosity=2).run(unittest.TestSuite(tests))
            done.put((name, len(tests), result.wasSuccessful(), time.monotonic() - start, output.getvalue()))
    finally:
        page.quit_browser()


def main(names):
    start, failed, number = time.monotonic(), [], 0
    found = classes(names)
    waiting, done = multiprocessing.Queue(), multiprocessing.Queue()
    for item in [*range(len(found)), *[None] * PROCESSES]:
        waiting.put(item)
    workers = [multiprocessing.Process(target=work, args=(names, waiting, done)) for _ in range(min(PROCESSES, len(found)))]
    for worker in workers:
        worker.start()
    for _ in found:
        while True:
            try:
                name, count, isPassed, seconds, output = done.get(timeout=1)
                break
            except queue.Empty:
                if any(worker.exitcode for worker in workers) or not any(worker.is_alive() for worker in workers) and done.empty():
                    sys.exit("A process of the tests has ended early.")
        number += count
        failed += [] if isPassed else [name]
        print(f"{name}: {count} tests in {seconds:.0f} s" if isPassed else f"{name}:\n{output}", flush=True)
    for worker in workers:
        worker.join()
    print(f"{number} tests in {time.monotonic() - start:.0f} s; {'failed: ' + ', '.join(failed) if failed else 'all passed'}")
    sys.exit(1 if failed or not number else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
