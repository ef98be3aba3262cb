"""The figures of decision 32: CDTQUERY=$PWD/.build/release/cdtquery scripts/test-page.sh figures"""

import statistics
import time

from page import PageTestCase

COUNT = 1_000_000


class Figures(PageTestCase):
    @classmethod
    def make_stores(cls):
        lines = "".join('{"_id":"%07d","name":"Person %d","age":%d,"city":"Oslo"}\n' % (number, number, number % 100) for number in range(COUNT))
        cls.tool("import", "stores/many", "-", text=lines)

    def test_first_paint(self):
        times = []
        for _ in range(9):
            self.open("many")
            self.see("1,000,000 documents")
            times.append(self.wait(lambda: self.run_script(
                "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime"), "a paint"))
        print(f"\nfirst paint, of 9: median {statistics.median(times):.0f} ms, most {max(times):.0f} ms")

    def test_scrolling(self):
        self.open("many")
        self.see("0000000")
        for share in (0.25, 0.5, 0.75, 1):
            expected = share * (COUNT - 20)
            start = time.monotonic()
            self.run_script("const s = document.querySelector('.scroller'); s.scrollTop = arguments[0] * (s.scrollHeight - s.clientHeight)", share)
            self.wait(lambda: abs(int(self.find("tbody tr td a").text) - expected) < 1_000, f"the rows at {share}")
            print(f"rows at {share:.0%} after {(time.monotonic() - start) * 1_000:.0f} ms, {len(self.all('tr'))} rows in the page")
        print(f"memory of JavaScript {self.run_script('return performance.memory.usedJSHeapSize') / 1e6:.1f} MB")
        # The time that each step of a smooth scroll keeps the page busy.
        longest = self.browser.execute_async_script("""
          const done = arguments[0], s = document.querySelector('.scroller'), gaps = []
          let last = performance.now(), steps = 0
          const step = now => {
            gaps.push(now - last)
            last = now
            s.scrollTop -= 40
            if (++steps < 300) requestAnimationFrame(step)
            else done([Math.max(...gaps.slice(1)), gaps.slice(1).sort((a, b) => a - b)[149]])
          }
          requestAnimationFrame(step)""")
        print(f"300 steps of a scroll: between frames {longest[1]:.1f} ms at the median, {longest[0]:.1f} ms at most")
