"""A long list: only what is seen is in the page, and only what is near is kept."""

import re

from page import By, Keys, PageTestCase

COUNT = 20_000


class Scrolling(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("many", [{"_id": f"{number:07}", "n": number} for number in range(COUNT)])

    def first(self):
        """The number of the row that is seen first, as soon as it is there."""
        return int(self.wait(lambda: self.find("tbody tr td a").text, "the first row"))

    def scroll_to(self, share):
        self.run_script(
            "const s = document.querySelector('.scroller'); s.scrollTop = arguments[0] * (s.scrollHeight - s.clientHeight)", share)

    def test_only_what_is_seen_is_fetched(self):
        self.open("many")
        self.see(f"{COUNT:,} documents", "0000000")
        for share in (0.25, 0.5, 0.75, 1):
            self.scroll_to(share)
            expected = share * COUNT
            self.wait(lambda: abs(self.first() - expected) < 60, f"the documents at {share}")
            self.assertLessEqual(len(self.all("tr")), 500)
        # The last one is seen, and not cut off.
        self.wait(lambda: self.find("tbody tr:last-child").text.split()[0] == f"{COUNT - 1:07}", "the last row")
        fetched = self.run_script("return performance.getEntriesByType('resource').filter(e => e.name.includes('_all_docs')).length")
        self.assertLessEqual(fetched, 12)
        self.assertEqual(self.find("table").get_attribute("aria-rowcount"), str(COUNT + 1))

    def fetched(self):
        """How often the rows at some place were fetched."""
        names = self.run_script("return performance.getEntriesByType('resource').map(e => e.name)")
        places = [int(place) for name in names for place in re.findall(r"_all_docs.*[&]skip=([0-9]+)", name)]
        return {place: places.count(place) for place in places}

    def visit(self, row):
        self.scroll_to(row / (COUNT - len(self.all("tbody tr")) + 1))
        self.wait(lambda: self.first() == row, f"the row {row}")

    def test_rows_near_those_that_are_seen_are_kept(self):
        self.open("many")
        self.see("0000000")
        far = COUNT - 50
        for row in [far, *range(0, 1_000, 50)]:
            self.visit(row)
        self.assertEqual(self.fetched(), {row: 1 for row in [far, *range(0, 1_000, 50)]})
        # Of 1,050 rows, those that were farthest are gone.
        self.visit(0)
        self.visit(far)
        self.assertEqual(self.fetched(), {row: 2 if row == far else 1 for row in [far, *range(0, 1_000, 50)]})

    def test_rows_come_when_the_server_answers_again(self):
        self.hurry()
        self.open("many")
        self.see("0000000")
        self.fail_requests("true")
        self.find(".scroller").send_keys(Keys.END)
        self.see("The server does not answer; is it still running? Trying again…")
        self.assertEqual({cell.text for cell in self.all("tbody td:first-child")}, {"…"})
        self.run_script("window.failing = false")
        self.see(f"{COUNT - 1:07}", "The server answers again.")

    def test_rows_are_reached_one_by_one_where_a_pixel_is_several(self):
        # As with more documents than fit into the height of an element, here by rows that are high.
        script = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
          addEventListener('DOMContentLoaded', () => {
            const sheet = new CSSStyleSheet()
            sheet.replaceSync('.scroller { --row: 1000px !important; height: 3100px !important; max-height: none !important; } tr, td, th { height: 40px !important; line-height: 38px !important }')
            document.adoptedStyleSheets = [sheet]
          })"""})
        self.addCleanup(self.browser.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", script)
        self.open("many")
        self.see("0000000")
        scroller = self.find(".scroller")
        self.assertLess(self.run_script("return arguments[0].scrollHeight", scroller), 13_000_000)
        for keys, expected in [(Keys.ARROW_DOWN, 1), (Keys.PAGE_DOWN, 3), (Keys.ARROW_UP, 2), (Keys.END, COUNT - 2), (Keys.ARROW_UP, COUNT - 3)]:
            scroller.send_keys(keys)
            self.wait(lambda: self.first() == expected, f"the row {expected}")
