"""The page in Chromium, as a person uses it: a directory of stores, the program that serves it, and a browser."""

import atexit
import base64
import inspect
import json
import os
import subprocess
import tempfile
import time
import unittest
import urllib.parse

from selenium import webdriver
from selenium.common.exceptions import NoSuchElementException, StaleElementReferenceException, WebDriverException
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAM = os.environ["CDTQUERY"]
IMAGES = os.path.join(HERE, "..", "..", "docs", "images")
# How long the page may take for anything: a slow machine must not fail a test.
PATIENCE = int(os.environ.get("PATIENCE", 60))
WIDE, PHONE = (1280, 800), (390, 844)
# A filter that finds every document, and is not the list of all.
ALL = '{"_id": {"$gte": ""}}'


def start_browser():
    """Starts the Chromium that has no window, which takes a third less of the processor than the usual one without showing it."""
    options = webdriver.ChromeOptions()
    # The sandbox needs privileges that root in a container does not have; the page's own protection does not rest on it.
    for argument in ("--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--window-size=1280,800"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Not the script in /usr/bin: the driver would end that alone.
    options.binary_location = "/usr/lib/chromium/chromium-headless-shell"
    return webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))


def script(name):
    with open(os.path.join(HERE, name)) as file:
        return file.read()


browser = None


def fresh_browser():
    """The browser of this process, as a new one is: without cookies, permissions, and what it kept of pages."""
    global browser
    try:
        if browser:
            browser.get("about:blank")
            for command, parameters in [("Network.clearBrowserCookies", {}), ("Storage.clearDataForOrigin", {"origin": "*", "storageTypes": "all"}),
                                        ("Browser.resetPermissions", {}), ("Emulation.setEmulatedMedia", {"media": ""})]:
                browser.execute_cdp_cmd(command, parameters)
            browser.get_log("browser")
            return browser
    except WebDriverException:
        quit_browser()
    browser = start_browser()
    return browser


@atexit.register
def quit_browser():
    global browser
    if browser:
        browser.quit()
    browser = None


class Program:
    """`cdtquery look` or `cdtquery serve` of a directory."""

    def __init__(self, command, directory, *options):
        self.process = subprocess.Popen(
            [PROGRAM, command, directory, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        stream = self.process.stdout if command == "look" else self.process.stderr
        # The address, alone or at the end of "cdtquery: serving DIRECTORY at http://127.0.0.1:PORT".
        words = stream.readline().split()
        if not words or "http://" not in words[-1]:
            raise RuntimeError(f"cdtquery {command} did not start: {self.process.stderr.read()}")
        self.address = words[-1]

    def close(self):
        self.process.terminate()
        self.process.communicate(timeout=PATIENCE)


class PageTestCase(unittest.TestCase):
    """Tests of one directory of stores, which is looked at with `cdtquery look`."""

    maxDiff = None
    size, colors = WIDE, "light"
    opened = 0

    def __init_subclass__(cls):
        """Leaves out, for a phone, the tests of a wide window that do not look at the form of a view: what happens is the same."""
        for name in dir(cls):
            if cls.size == PHONE and name.startswith("test_") and name not in vars(cls) and "check_" not in inspect.getsource(getattr(cls, name)):
                setattr(cls, name, None)

    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory()
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = os.path.join(temporary.name, "stores")
        os.mkdir(cls.directory)
        cls.make_stores()
        cls.browser = fresh_browser()
        cls.look()

    @classmethod
    def look(cls, *options):
        """Starts `cdtquery look` with options, and opens its address."""
        cls.program = Program("look", cls.directory, "--no-open", *options)
        cls.addClassCleanup(cls.program.close)
        cls.browser.get(cls.program.address)
        cls.base = cls.browser.current_url.partition("#")[0]

    @classmethod
    def serve_with_users(cls, users):
        """Has a server with users in place of `cdtquery look`.

        users: the roles of each name. All have one password.
        """
        file = os.path.join(os.path.dirname(cls.directory), "users.json")
        for name, roles in users.items():
            cls.tool("user", "add", file, name, *(f"--role={role}" for role in roles), "--password-file", "-", text="correct horse")
        cls.program.close()
        cls.program = Program("serve", cls.directory, "--bind", "127.0.0.1:0", "--users", file)
        cls.addClassCleanup(cls.program.close)
        cls.base = cls.program.address + "/_utils/"

    @classmethod
    def make_stores(cls):
        """Fills the directory."""

    def setUp(self):
        self.set_view(self.size, self.colors)

    def tearDown(self):
        """Nothing that the page does is an error, and nothing is refused by its policy."""
        for entry in self.browser.get_log("browser"):
            # A reply of the server with an error, such as 400 for a query that is invalid.
            if "Failed to load resource" not in entry["message"]:
                self.fail(f"the browser logged: {entry['message']}")

    # The directory

    @classmethod
    def tool(cls, *arguments, text=None):
        run = subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True, cwd=os.path.dirname(cls.directory))
        if run.returncode != 0:
            raise RuntimeError(f"cdtquery {' '.join(arguments)[:200]}: {run.stderr[:500]}")
        return run.stdout

    @classmethod
    def fill(cls, store, documents):
        """Saves documents from another process than that of the page."""
        lines = "".join(json.dumps(document) + "\n" for document in documents)
        cls.tool("import", f"stores/{store}", "-", text=lines)

    def send(self, method, path, body=None):
        """Sends a request with the rights of the page."""
        status, text = self.browser.execute_async_script(
            """const [method, path, body, done] = arguments
            fetch(path, {method, body, headers: body === null ? {} : {'Content-Type': 'application/json'}})
              .then(async response => done([response.status, await response.text()]))""",
            method, path, None if body is None else json.dumps(body))
        self.assertLess(status, 300, text)
        return json.loads(text)

    # The browser

    @classmethod
    def set_view(cls, size, colors):
        width, height = size
        cls.browser.execute_cdp_cmd(
            "Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        # A phone's scroll bars lie over the content.
        cls.browser.execute_cdp_cmd("Emulation.setScrollbarsHidden", {"hidden": size == PHONE})
        cls.browser.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": colors}]})

    def open(self, store=None, view="documents", **parameters):
        """Opens a view as if it was the first one: of a store, or one of those beside them."""
        query = "?" + urllib.parse.urlencode(parameters) if parameters else ""
        fragment = f"#/db/{urllib.parse.quote(store, safe='')}/{view}{query}" if store else "#/" if view == "documents" else f"#/{view}"
        # Not the same address with another fragment, which is not loaded again.
        PageTestCase.opened += 1
        self.browser.get(f"{self.base}?{self.opened}{fragment}")

    def show(self, store, view, parameters, *texts):
        """Opens a view of VIEWS: the first text is seen, the button or the menu of the next one is pressed, and so on."""
        self.open(store, view, **parameters)
        for at, text in enumerate(texts):
            menu = at % 2 and self.summary(text)
            menu.click() if menu else self.explain() if at % 2 and text == "Explain" else self.press(text) if at % 2 else self.see(text)

    def wait(self, condition, what):
        """Waits until a condition holds, and returns its value."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                value = condition()
                if value:
                    return value
            except (NoSuchElementException, StaleElementReferenceException):
                pass
            if time.monotonic() > end:
                self.fail(f"not seen: {what}; the page has: {self.text[:2_000]}")
            time.sleep(0.05)

    @property
    def text(self):
        """What is seen of the page, as the driver's text of an element would give it; that takes longer."""
        lines = self.run_script("return document.body.innerText").replace("\t", " ").replace("\xa0", " ").split("\n")
        return "\n".join(line.strip() for line in lines if line.strip())

    def see(self, *texts):
        for text in texts:
            self.wait(lambda: text in self.text, repr(text))

    def find(self, selector):
        return self.wait(lambda: self.browser.find_element(By.CSS_SELECTOR, selector), selector)

    def all(self, selector):
        return self.browser.find_elements(By.CSS_SELECTOR, selector)

    def named(self, role, name):
        """The element that assistive technology has under a role and a name."""
        kinds = {
            "button": "button", "link": "a", "field": "input, textarea, select", "choice": "input[type=radio], input[type=checkbox]",
        }

        def find():
            # Only the browser knows the names, but each question takes time.
            for element in self.run_script(NAMED, kinds[role], name):
                if element.accessible_name == name and element.is_displayed():
                    return element
            return None

        return self.wait(find, f"the {role} {name!r}")

    def click(self, role, name):
        """Clicks on something, also if the page replaces it just then."""
        def click():
            element = self.named(role, name)
            # What is far down on a phone is scrolled to.
            if role in ("button", "choice"):
                self.browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", element)
            element.click()
            return True

        self.wait(click, f"the {role} {name!r}")

    def press(self, name):
        self.click("button", name)

    def summary(self, name):
        """The part of a menu that opens it, if it is seen; a number may follow its name."""
        return next((summary for summary in self.all("summary") if summary.is_displayed() and summary.text.startswith(name)), None)

    def menu(self, name):
        def click():
            summary = self.summary(name)
            if summary:
                self.run_script("arguments[0].scrollIntoView({block: 'center'})", summary)
                summary.click()
            return summary

        self.wait(click, f"the menu {name!r}")

    def explain(self):
        """Opens the plan of the results."""
        self.wait(lambda: self.find("#chip").click() or True, "what was read")

    def copy_as(self, form):
        self.menu("Copy")
        self.press(f"As {form}")

    def write(self, name, text):
        field = self.named("field", name)
        field.send_keys(Keys.CONTROL, "a")
        field.send_keys(text if text else Keys.DELETE)
        return field

    def keys(self, *keys):
        ActionChains(self.browser).send_keys(*keys).perform()

    def run_script(self, script, *arguments):
        return self.browser.execute_script(script, *arguments)

    def fail_requests(self, condition):
        """Makes requests of the page fail while `failing` is set, if a condition on their `body` holds."""
        self.run_script(f"""
          window.failing = true
          const real = window.fetch
          window.fetch = (address, options) => {{
            const body = options?.body ?? ''
            return window.failing && ({condition}) ? Promise.reject(new TypeError('no network')) : real(address, options)
          }}""")

    def hurry(self):
        """Lets the clock of the page run twenty times as fast, as it waits before it does something again."""
        added = self.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": """
          const [wait, now, start] = [setTimeout, Date.now, Date.now()]
          window.setTimeout = (action, time = 0, ...more) => wait(action, time < 1000 ? time : time / 20, ...more)
          Date.now = () => start + 20 * (now() - start)"""})
        self.addCleanup(self.browser.execute_cdp_cmd, "Page.removeScriptToEvaluateOnNewDocument", added)

    # What every view must be

    def check_view(self, what):
        """Names of what can be used, the contrast of texts, the layout, and the width of the page."""
        self.check_names(what)
        self.check_contrast(what)
        self.check_layout(what)
        excess = self.run_script("return document.documentElement.scrollWidth - innerWidth")
        self.assertLessEqual(excess, 0, f"{what} is wider than the window")
        # Before somebody has logged in there may be nothing but the question.
        if not self.find("#login").is_displayed():
            self.assertEqual(len(self.all("h1")), 1, f"{what} has one main heading")

    def check_names(self, what):
        roles = {"button", "link", "textbox", "combobox", "checkbox", "radio", "spinbutton", "table", "region", "image", "listbox", "dialog"}
        tree = self.browser.execute_cdp_cmd("Accessibility.getFullAXTree", {})
        for node in tree["nodes"]:
            role = node.get("role", {}).get("value")
            if node.get("ignored") or role not in roles:
                continue
            self.assertTrue(node.get("name", {}).get("value"), f"{what}: a {role} has no name: {node}")

    def check_contrast(self, what):
        """WCAG's level AA: 4.5 for every text that is seen."""
        bad = self.run_script(CONTRAST)
        self.assertEqual(bad, [], what)

    def check_layout(self, what):
        """Nothing overlaps, nothing is cut, and no word is broken."""
        self.assertEqual(self.run_script(LAYOUT), [], what)

    def picture(self, name, selector="html"):
        """Records a picture for the documentation, if that is asked for: of the wide page in light colors, or on a phone."""
        element = self.find(selector)
        if os.environ.get("RECORD_IMAGES") == "1" and ((self.size, self.colors) == (WIDE, "light") or name.endswith("-phone")):
            os.makedirs(IMAGES, exist_ok=True)
            path = os.path.join(IMAGES, f"look-{name}.png")
            clip = {}
            if selector != "html":
                # With the margins at its sides, and also what is below the window.
                x, y, width, height = self.run_script(
                    "const r = arguments[0].getBoundingClientRect(); return [r.x + scrollX, r.y + scrollY, r.width, r.height]", element)
                clip = {"clip": {"x": x - 16, "y": y - 16, "width": width + 32, "height": height + 16, "scale": 1},
                        "captureBeyondViewport": True}
            with open(path, "wb") as file:
                file.write(base64.b64decode(self.browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png", **clip})["data"]))
        else:
            self.assertTrue(element.screenshot_as_png)


# The elements that may have a name.
NAMED = """
const plain = text => (text ?? '').replace(/\\s+/g, '')
return [...document.querySelectorAll(arguments[0])].filter(element =>
  [element.ariaLabel, element.textContent, element.title, ...[...element.labels ?? []].map(label => label.textContent)]
    .some(text => plain(text).includes(plain(arguments[1]))))
"""
LAYOUT = script("layout.js")
STRUCTURE = script("structure.js")
CONTRAST = """
const parse = text => {
  const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number)
  return [r, g, b, a]
}
const over = ([r, g, b, a], [x, y, z]) => [r * a + x * (1 - a), g * a + y * (1 - a), b * a + z * (1 - a), 1]
const light = ([r, g, b]) => [r, g, b].map(c => c / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0)
const behind = element => {
  const layers = []
  for (let node = element; node; node = node.parentElement) layers.push(parse(getComputedStyle(node).backgroundColor))
  return layers.reverse().reduce((base, layer) => over(layer, base), parse(getComputedStyle(document.body).backgroundColor))
}
const bad = []
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
while (walker.nextNode()) {
  const element = walker.currentNode.parentElement
  if (!walker.currentNode.data.trim() || !element.checkVisibility({visibilityProperty: true}) || element.closest('.behind, .hidden, [aria-disabled=true]')) continue
  const back = behind(element)
  const fore = over(parse(getComputedStyle(element).color), back)
  const [dark, bright] = [light(fore), light(back)].sort((a, b) => a - b)
  const ratio = (bright + 0.05) / (dark + 0.05)
  if (ratio < 4.5) bad.push(`${walker.currentNode.data.trim().slice(0, 40)}: ${ratio.toFixed(2)}`)
}
return bad
"""
