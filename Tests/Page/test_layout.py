"""The check of the layout sees what it is for: defects that are put into the page are reported, and nothing else."""

from page import LAYOUT, PageTestCase
from test_views import people

LONG = "Donaudampfschifffahrtsgesellschaft"
# What is added to the page, and the reports of it.
DEFECTS = [
    ("<button>One</button><button style='margin-left: -30px'>Two</button>", ["overlap: button"]),
    ("<p>One line</p><p style='margin-top: -30px'>Another line</p>", ["overlap: p"]),
    ("<label>Name<input style='position: relative; top: -18px'></label>", []),
    ("<label><span>Name</span><input style='position: relative; top: -24px'></label>", ["overlap: input"]),
    (f"<div style='width: 90px; overflow: hidden; white-space: nowrap'>{LONG}</div>", ["cut: div"]),
    ("<div style='height: 30px; overflow: hidden'>One<br>Two</div>", ["cut: div"]),
    (f"<div style='width: 90px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis'>{LONG}</div>", ["cut, and the whole is not on hover"]),
    (f"<div title='{LONG}' style='width: 90px; overflow: hidden; white-space: nowrap; text-overflow: ellipsis'>{LONG}</div>", []),
    (f"<div tabindex=0 style='width: 90px; overflow: auto; white-space: nowrap'>{LONG}</div>", []),
    ("<p style='margin-left: -400px'>Before the window</p>", ["cut by the window"]),
    (f"<button style='width: 90px'>{LONG}</button>", ["out of its box: button"]),
    (f"<table style='table-layout: fixed; width: 90px'><td style='overflow-wrap: normal'>{LONG}</td></table>", ["out of its box: td"]),
    ("<p style='width: 200px; line-height: 6px'>A line<br>of text</p>", ["out of its box: p"]),
    (f"<div style='overflow-wrap: anywhere'><table style='width: 90px'><td>shipped</td><td>{LONG}</td></table></div>", ["broken word"]),
    ("<p style='width: 120px; word-break: break-all'>The state is shipped as of now</p>", ["broken word: "]),
    ("<p style='width: 60px'>2026-08-09</p>", []),
    ("<p style='width: 130px'>on the day 2026-08-09</p>", ["broken word: 2026-08-09"]),
    ("<p style='width: 7em'>It is read-only.</p>", []),
    (f"<p style='width: 90px'>{LONG}</p>", []),
    (f"<pre style='width: 90px; overflow-wrap: anywhere'>{LONG}</pre>", []),
    ("<dialog open style='top: 0'>It lies over the heading.</dialog>", []),
]


class Layout(PageTestCase):
    @classmethod
    def make_stores(cls):
        cls.fill("people", people(3))

    def test_defects_are_reported(self):
        self.open("people", "changes")
        self.see("Written")
        self.assertEqual(self.run_script(LAYOUT), [])
        for markup, expected in DEFECTS:
            with self.subTest(markup):
                found = self.run_script("""
                  const place = document.createElement('div')
                  place.append(...new DOMParser().parseFromString(arguments[0].replaceAll('style=', 'data-style='), 'text/html').body.childNodes)
                  // The policy of the page allows no attributes with styles.
                  for (const element of place.querySelectorAll('[data-style]')) element.style.cssText = element.dataset.style
                  document.getElementById('main').prepend(place)\n""" + LAYOUT, markup)
                self.run_script("document.getElementById('main').firstChild.remove()")
                self.assertEqual([report[:len(start)] for report, start in zip(found, expected)], expected, found)
                self.assertEqual(len(found) > 0, len(expected) > 0, found)
