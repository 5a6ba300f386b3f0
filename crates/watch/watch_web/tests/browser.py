"""Looks at the pages in a real browser: `browser.py ADDRESS AXE`, with the addresses of the pages
on standard input. Talks to chromedriver by the W3C's WebDriver protocol alone."""

import json
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request

BASE, AXE = sys.argv[1], sys.argv[2]
PAGES = sys.stdin.read().split()
PAIR = PAGES[1]
EVENT = next(page for page in PAGES if page.startswith("/event/"))
KEY_TAB = "\ue004"
faults = []


def check(is_right, what):
    print(("ok: " if is_right else "FAULT: ") + what, flush=True)
    if not is_right:
        faults.append(what)


class Browser:
    """A session of a browser of its own."""

    def __init__(self, driver, is_dark=False, scripts=True, width=1280):
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run",
                     "--disable-background-networking", "--disable-component-update",
                     f"--window-size={width},1000"]
        prefs = {} if scripts else {"profile.managed_default_content_settings.javascript": 2}
        options = {"args": arguments, "prefs": prefs}
        logs = {"performance": "ALL"}
        wanted = {"browserName": "chrome", "goog:chromeOptions": options, "goog:loggingPrefs": logs}
        self.place = f"{driver}/session"
        answer = self.post("", {"capabilities": {"alwaysMatch": wanted}})
        self.place += "/" + answer["sessionId"]
        scheme = {"name": "prefers-color-scheme", "value": "dark" if is_dark else "light"}
        self.cdp("Emulation.setEmulatedMedia", {"features": [scheme]})

    def post(self, path, body):
        data = json.dumps(body).encode()
        head = {"Content-Type": "application/json"}
        request = urllib.request.Request(self.place + path, data, head)
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()) from error

    def cdp(self, command, values):
        return self.post("/goog/cdp/execute", {"cmd": command, "params": values})

    def open(self, path):
        self.post("/url", {"url": BASE + path})

    def run(self, script, *values):
        return self.post("/execute/sync", {"script": script, "args": list(values)})

    def run_async(self, script):
        return self.post("/execute/async", {"script": script, "args": []})

    def press(self, key, times):
        actions = [{"type": "keyDown", "value": key}, {"type": "keyUp", "value": key}] * times
        source = {"type": "key", "id": "keys", "actions": actions}
        self.post("/actions", {"actions": [source]})

    def drag(self, begin, end, pointer):
        move = lambda place: {"type": "pointerMove", "x": place[0], "y": place[1], "duration": 50}
        actions = [move(begin), {"type": "pointerDown", "button": 0}, move(end),
                   {"type": "pointerUp", "button": 0}]
        source = {"type": "pointer", "id": pointer, "actions": actions,
                  "parameters": {"pointerType": pointer}}
        self.post("/actions", {"actions": [source]})

    def leaves(self, address):
        """The address that follows this one, within five seconds."""
        for _ in range(100):
            now = self.run("return location.href")
            if now != address:
                return now
            time.sleep(0.05)
        return address

    def requested(self):
        """Addresses that the browser asked for since the last call."""
        entries = self.post("/se/log", {"type": "performance"})
        messages = [json.loads(entry["message"])["message"] for entry in entries]
        sent = [m for m in messages if m["method"] == "Network.requestWillBeSent"]
        return [m["params"]["request"]["url"] for m in sent]

    def close(self):
        request = urllib.request.Request(self.place, method="DELETE")
        urllib.request.urlopen(request, timeout=60).close()


def is_accessible(driver):
    axe = open(AXE, encoding="utf-8").read()
    for is_dark, width in [(True, 1280), (False, 420)]:
        look = f"{'dark' if is_dark else 'light'}, {width} wide"
        browser = Browser(driver, is_dark, width=width)
        browser.cdp("Page.addScriptToEvaluateOnNewDocument", {"source": axe})
        for path in PAGES:
            browser.open(path)
            browser.run("document.querySelectorAll('details').forEach((part) => part.open = true)")
            found = browser.run_async(
                "const done = arguments[arguments.length - 1];"
                "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map("
                "(v) => [v.id, v.nodes.length, v.nodes[0].html, v.nodes[0].failureSummary])))")
            check(not found, f"axe has nothing to say of {path} ({look}) {json.dumps(found)[:900]}")
            cut = browser.run(
                "const wide = (part) => part.scrollWidth > part.clientWidth + 1;"
                "const parts = document.querySelectorAll('html, .table, .plot, .matrix, figure');"
                "return [...parts].filter(wide).map((part) => part.className || part.tagName)")
            check(not cut, f"nothing of {path} ({look}) is cut or scrolls sideways: {cut}")
        asked = browser.requested()
        outside = [url for url in asked if not url.startswith((BASE, "data:", "about:", "chrome"))]
        check(asked and not outside, f"no request leaves the host ({look}): {outside[:3]}")
        browser.close()


def keyboard_reaches_every_cell(browser):
    browser.open("/")
    cells = set(browser.run("return [...document.querySelectorAll('td a')].map((a) => a.href)"))
    browser.run("window.reached = []; document.addEventListener('focusin', "
                "(event) => window.reached.push(event.target.href ?? ''))")
    browser.press(KEY_TAB, len(cells) + 60)
    reached = set(browser.run("return window.reached"))
    check(cells and cells <= reached, f"the keyboard reaches {len(cells)} cells")
    seen = browser.run(
        "const cell = document.querySelector('td a'); cell.focus({focusVisible: true});"
        "return getComputedStyle(cell).outlineStyle")
    check(seen != "none", f"the focus is seen: {seen}")


def length_of(address):
    found = re.search(r"from=(\d+)&to=(\d+)", address)
    return int(found[2]) - int(found[1]) if found else 0


def ranges_are_chosen_on_the_chart(browser, path, pointer):
    browser.open(path)
    browser.run("document.querySelector('.plot .sheet').scrollIntoView({block: 'center'})")
    begin, end, *box = browser.run(
        "const over = document.querySelector('svg.over');"
        "const box = over.getBoundingClientRect();"
        "return [+over.dataset.from, +over.dataset.to, box.left, box.top, box.width, box.height]")
    at = lambda share: (int(box[0] + share * box[2]), int(box[1] + 0.4 * box[3]))
    before = browser.run("return location.href")
    browser.drag(at(0.3), at(0.6), pointer)
    address = browser.leaves(before)
    share = length_of(address) / (end - begin)
    check(0.25 < share < 0.45, f"a drag by {pointer} over three tenths shows them: {address}")
    browser.run("document.querySelector('.plot[id]').focus()")
    browser.press("+", 1)
    shorter = browser.leaves(address)
    half = length_of(shorter) / max(length_of(address), 1)
    check(0.45 < half < 0.55, f"+ shows half as much: {shorter}")
    # The page that comes has the focus on its chart.
    for _ in range(100):
        if browser.run("return document.activeElement.closest('.plot[id]') !== null"):
            break
        time.sleep(0.05)
    browser.press("\ue012", 1)
    earlier = browser.leaves(shorter)
    check(length_of(earlier) == length_of(shorter), f"← shows the time before: {earlier}")


def pages_follow_the_watch(browser):
    browser.open("/")
    browser.run("document.querySelector('main h1').dataset.old = '1';"
                "document.querySelectorAll('td a')[4].focus()")
    focus = browser.run("return document.activeElement.href")
    for _ in range(200):
        time.sleep(0.1)
        if browser.run("return document.querySelector('main h1[data-old]') === null"):
            break
    else:
        check(False, "a change on the server renews the page")
        return
    check(True, "a change on the server renews the page")
    after = browser.run("return document.activeElement.href")
    check(focus == after, f"the focus stays: {focus} {after}")


def all_works_without_scripts(driver):
    browser = Browser(driver, scripts=False)
    for path in PAGES:
        browser.open(path)
        title = browser.run("return document.querySelector('h1')?.textContent ?? ''")
        check(title != "", f"{path} shows {title!r} without scripts")
    browser.open("/")
    following = browser.run("return document.body.classList.contains('following')")
    check(not following, "scripts were off")
    link = browser.post("/element", {"using": "css selector", "value": "td a"})
    browser.post(f"/element/{next(iter(link.values()))}/click", {})
    drawn = browser.run("return document.querySelectorAll('svg[role=img]').length")
    check(drawn > 0, "a cell leads to its chart without scripts")
    browser.close()


def main():
    driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, text=True)
    try:
        port = None
        for line in driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                port = found[1]
                break
        place = f"http://127.0.0.1:{port}"
        browser = Browser(place)
        keyboard_reaches_every_cell(browser)
        ranges_are_chosen_on_the_chart(browser, PAIR, "mouse")
        ranges_are_chosen_on_the_chart(browser, EVENT, "touch")
        pages_follow_the_watch(browser)
        browser.close()
        all_works_without_scripts(place)
        is_accessible(place)
    finally:
        driver.terminate()
    for fault in faults:
        print(f"FAULT: {fault}")
    sys.exit(1 if faults else 0)


main()
