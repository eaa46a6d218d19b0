"""Tests the page in a real browser: Chromium, driven by Playwright. Usage: page.py DLM [PICTURES]"""

import os
import sys

from bench import Bench, Files, wait
from playwright.sync_api import sync_playwright

program = os.path.abspath(sys.argv[1])
pictures = sys.argv[2] if len(sys.argv) > 2 else None
bench = Bench(program)
problems = []
passed = 0


def done(what):
    global passed
    passed += 1
    print(f"ok: {what}", flush=True)


def picture(page, name):
    if pictures:
        page.screenshot(path=f"{pictures}/{name}.png")


def row(page, name):
    return page.locator("#rows tr", has_text=name)


def state(page, name, text, seconds=30):
    wait(f"{name} is {text}", lambda: row(page, name).count() == 1 and text in row(page, name).inner_text(), seconds)


def open_page(browser, width=1280, height=800, scheme="light", secret=True):
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce")
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    page.on("request", lambda request: problems.append(request.url) if not request.url.startswith((bench.address, "data:")) else None)
    page.goto(bench.address + ("/#secret=" + bench.secret if secret else "/"))
    return page


def log_in(browser):
    page = open_page(browser, secret=False)
    page.get_by_label("Secret").fill("not the secret at all")
    page.keyboard.press("Enter")
    page.get_by_role("alert").filter(has_text="dlm rpc secret").wait_for()
    page.get_by_label("Secret").fill(bench.secret)
    page.keyboard.press("Enter")
    page.get_by_text("No downloads yet").wait_for()
    done("the secret is asked for, a wrong one is refused, the right one opens the page")
    picture(page, "empty")
    page.context.close()


def by_keyboard(browser):
    page = open_page(browser)
    wait("the secret leaves the address", lambda: "secret" not in page.evaluate("location.href"))
    page.get_by_text("No downloads yet").wait_for()
    page.keyboard.press("a")
    page.keyboard.type(f"{bench.files}/slow/one.bin\n{bench.files}/small/two.bin\n{bench.files}/missing/three.bin")
    page.get_by_text("free").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Add").press("Enter")
    state(page, "two.bin", "finished")
    state(page, "three.bin", "failed: 404")
    wait("progress", lambda: "KiB/s" in row(page, "one.bin").inner_text())
    done("downloads are added, finish and fail, with progress")
    picture(page, "downloads")
    row(page, "one.bin").focus()
    page.keyboard.press("Enter")
    page.locator("#details h2", has_text="one.bin").wait_for()
    assert page.get_by_role("img", name="of the file received").count() == 1
    picture(page, "details")
    page.keyboard.press("Escape")
    wait("the row has the focus again", lambda: page.evaluate("document.activeElement.dataset.id") is not None)
    row(page, "one.bin").focus()
    page.keyboard.press("p")
    state(page, "one.bin", "paused")
    done("a download is looked at and paused, by keys alone")
    page.keyboard.press("?")
    page.get_by_role("dialog", name="Keys").wait_for()
    page.keyboard.press("Escape")
    Files.found = True
    page.keyboard.press("Shift+R")
    state(page, "three.bin", "finished")
    done("all that failed is tried again")
    page.keyboard.press("5")
    wait("the filter is in the address", lambda: page.evaluate("location.href").endswith("#state=failed"))
    page.get_by_text("No downloads in this view.").wait_for()
    page.keyboard.press("1")
    page.keyboard.press("/")
    page.keyboard.type("two")
    wait("the search", lambda: page.locator("#rows tr[data-id]").count() == 1 and "q=two" in page.evaluate("location.href"))
    page.keyboard.press("Escape")
    row(page, "two.bin").focus()
    page.keyboard.press("Delete")
    page.get_by_text(f"Also delete the file {bench.downloads}/two.bin").wait_for()
    page.locator("#with-file").press("Space")
    page.get_by_role("dialog").get_by_role("button", name="Remove").press("Enter")
    wait("it is gone", lambda: row(page, "two.bin").count() == 0 and not os.path.exists(bench.downloads + "/two.bin"))
    done("filters and search are in the address; a file is deleted after its name was asked")
    wait("Escape ended the search", lambda: row(page, "one.bin").count() == 1)
    offline(page)
    page.context.close()


def offline(page):
    bench.stop()
    page.get_by_text("does not answer").wait_for()
    picture(page, "offline")
    bench.start()
    wait("it answers again", lambda: page.locator("#offline").is_hidden(), 40)
    row(page, "one.bin").focus()
    page.keyboard.press("r")
    state(page, "one.bin", "finished", 60)
    wait("the end is said", lambda: "one.bin is finished" in page.locator("#live").inner_text())
    done("the session ends and comes back: the page says so, goes on, and the download, too")


def order(page):
    texts = page.locator("#rows tr[data-id] .name").all_inner_texts()
    return [text.split()[0] for text in texts if text.startswith("q")]


def queue(browser):
    urls = [f"{bench.files}/small/q{number}" for number in range(4)]
    bench.run("get", "-b", "--paused", "-d", bench.downloads, *urls)
    page = open_page(browser)
    page.keyboard.press("3")
    wait("the queue", lambda: order(page) == ["q0", "q1", "q2", "q3"])
    row(page, "q3").drag_to(row(page, "q0"))
    wait("the new order", lambda: order(page) == ["q3", "q0", "q1", "q2"])
    row(page, "q0").focus()
    page.keyboard.press("Alt+ArrowDown")
    wait("the new order by keys", lambda: order(page) == ["q3", "q1", "q0", "q2"])
    done("the queue is rearranged by dragging and by keys")
    page.context.close()


def phone(browser):
    page = open_page(browser, 360, 640, "dark")
    wait("rows", lambda: page.locator("#rows tr[data-id]").count() > 3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = page.evaluate("""[...document.querySelectorAll("button, nav a, select")].filter((node) => node.offsetParent
        && node.getBoundingClientRect().height < 40).map((node) => node.textContent)""")
    assert not small, small
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(251, 251, 250)"
    picture(page, "phone")
    done("a phone shows all of it, dark")
    page.context.close()


def names(browser):
    """Checks that every control has a name that a screen reader can say."""
    page = open_page(browser)
    wait("rows", lambda: page.locator("#rows tr[data-id]").count() > 3)
    unnamed = page.evaluate("""[...document.querySelectorAll("button, input, select, textarea")].filter((node) =>
        !(node.getAttribute("aria-label") || node.textContent.trim() || node.labels?.length)).map((node) => node.outerHTML)""")
    assert not unnamed, unnamed
    tree = page.locator("main").aria_snapshot()
    for word in ["table", "columnheader \"Name\"", "progressbar", "row"]:
        assert word in tree, (word, tree[:2000])
    assert page.locator("[aria-live]").count() == 1
    done("controls have names, the list is a table, one region is live")
    page.context.close()


def many(browser):
    listed = bench.home + "/list"
    with open(listed, "w") as file:
        file.writelines(f"{bench.files}/small/many/{number:05}.bin\n" for number in range(10_000))
    bench.run("get", "-b", "--paused", "-d", bench.downloads + "/many", "-i", listed)
    page = open_page(browser)
    wait("all are counted", lambda: page.locator("[data-count=waiting]").inner_text().isdigit()
         and int(page.locator("[data-count=waiting]").inner_text()) >= 10_000, 60)
    assert page.locator("#rows tr[data-id]").count() < 60
    slowest = page.evaluate("""new Promise((done) => { const box = document.getElementById("list"); let last = performance.now();
        let worst = 0, left = 60; const step = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now;
        box.scrollTop += 3000; if (left--) requestAnimationFrame(step); else done(Math.round(worst)); }; step(); })""")
    assert page.locator("#rows tr[data-id]").count() < 60
    assert page.locator("table").get_attribute("aria-rowcount") > "10000"
    page.keyboard.press("End")
    wait("the end", lambda: page.locator("#rows tr[data-id]:focus").count() == 1)
    picture(page, "many")
    done(f"10,000 downloads: fewer than 60 rows are in the page; the slowest frame while scrolling took {slowest} ms")
    page.context.close()


try:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/lib/chromium/chromium", args=["--no-sandbox"])
        for test in [log_in, by_keyboard, queue, phone, names, many]:
            test(browser)
        browser.close()
    assert not problems, problems
    done("no error, no breach of the policy, and nothing was asked of another server")
finally:
    bench.end()
print(f"{passed} passed, 0 failed")
