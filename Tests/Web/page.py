"""Tests the page in a real browser: Chromium, driven by Playwright. Usage: page.py DLM [PICTURES]

With DLM_PAGE=Sources/DownloadRPC/Page it tests the files of this folder instead of those in the program."""

import json
import os
import re
import sys
import time

from bench import Bench, Files, use_page_files, wait
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


def open_page(browser, width=1280, height=800, scheme="light", secret=True, before=None, **options):
    context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion="reduce", **options)
    use_page_files(context, bench.address)
    page = context.new_page()
    page.on("pageerror", lambda error: problems.append(str(error)))
    page.on("console", lambda message: problems.append(message.text) if "Content Security" in message.text else None)
    page.on("request", lambda request: problems.append(request.url) if not request.url.startswith((bench.address, "data:")) else None)
    if before:
        before(page)
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
    page = open_page(browser, 360, 640, "dark", has_touch=True, is_mobile=True)
    wait("rows", lambda: page.locator("#rows tr[data-id]").count() > 3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    small = page.evaluate("""[...document.querySelectorAll("button, nav a, select")].filter((node) => node.offsetParent
        && node.getBoundingClientRect().height < 40).map((node) => node.textContent)""")
    assert not small, small
    tops = page.evaluate("[...document.querySelectorAll('#tools > :not([hidden])')].map((node) => node.getBoundingClientRect()).map((box) => box.top + box.height / 2)")
    assert max(tops) - min(tops) < 4, tops
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(251, 251, 250)"
    picture(page, "phone")
    place = page.locator("#rows tr[data-id] .title").first.bounding_box()
    touch = page.context.new_cdp_session(page)
    touch.send("Input.dispatchTouchEvent", {"type": "touchStart", "touchPoints": [{"x": place["x"] + 4, "y": place["y"] + 4}]})
    page.get_by_role("menu").wait_for()
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.wait_for_timeout(300)
    assert page.get_by_role("menu").is_visible() and page.locator("#details").is_hidden()
    page.keyboard.press("Escape")
    done("a phone shows all of it, dark; a long press opens the menu")
    page.context.close()


def visible(node):
    box = node.bounding_box()
    return box["height"] > 20 and box["y"] > 0 and box["y"] + box["height"] <= node.page.viewport_size["height"]


# Returns the problems of a page that a person with low vision, without colours or with a screen reader would have: the rules 1.4.3
# (contrast of text), 1.4.11 (contrast of controls) and 4.1.2 (names) of WCAG 2.2.
PROBLEMS = """() => {
    const found = [];
    const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
    const pixel = (color) => { pen.clearRect(0, 0, 1, 1); pen.fillStyle = color; pen.fillRect(0, 0, 1, 1);
        const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
    const over = (top, under) => [0, 1, 2].map((part) => top[part] * top[3] + under[part] * (1 - top[3])).concat(1);
    const chain = (node) => { const nodes = []; for (; node; node = node.parentElement) nodes.push(node); return nodes.reverse(); };
    const ground = (node) => chain(node).reduce((color, one) => over(pixel(getComputedStyle(one).backgroundColor), color), [255, 255, 255, 1]);
    const luminance = (color) => color.slice(0, 3).map((part) => part / 255).map((part) => part <= .04045 ? part / 12.92 : ((part + .055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [.2126, .7152, .0722][index], 0);
    const contrast = (one, other) => { const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a); return (light + .05) / (dark + .05); };
    const opacity = (node) => chain(node).reduce((product, one) => product * getComputedStyle(one).opacity, 1);
    const isShown = (node) => node.checkVisibility() && !node.closest(".hidden, .skip, [aria-hidden=true], option, datalist")
        && node.getBoundingClientRect().width > 1 && opacity(node) > 0;
    const check = (node, color, under, least, what) => {
        const seen = over([...pixel(color).slice(0, 3), pixel(color)[3] * opacity(node)], under);
        const value = contrast(seen, under);
        if (value < least) found.push(`${what} ${node.tagName}.${node.className?.baseVal ?? node.className}#${node.id} “${node.textContent.slice(0, 30)}”: ${value.toFixed(2)} < ${least}`);
    };
    for (const node of document.querySelectorAll("body *")) {
        if (!isShown(node) || node.closest(":disabled")) continue;
        const style = getComputedStyle(node);
        const hasText = [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim());
        const isLarge = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && style.fontWeight >= 700);
        if (hasText || node.matches("input:not([type=checkbox]), textarea, select")) check(node, style.color, ground(node), isLarge ? 3 : 4.5, "text");
        if (node.placeholder) check(node, getComputedStyle(node, "::placeholder").color, ground(node), 4.5, "placeholder");
        if (node.matches(".icon")) check(node, style.color, ground(node), 3, "icon");
        if (node.matches(".track i")) check(node, style.backgroundColor, ground(node.parentElement), 3, "bar");
        if (node.matches(".pieces rect")) check(node, style.fill, ground(node.closest(".pieces")), 3, "part");
        if (node.matches(".chart polyline")) check(node, style.stroke, ground(node), 3, "line");
        if (node.matches("input, textarea, select") && !node.closest(".button")) {
            const isFilled = node.matches("[type=checkbox]:checked");
            check(node, isFilled ? style.backgroundColor : style.borderTopColor, ground(node.parentElement), 3, "border");
        }
    }
    const root = getComputedStyle(document.documentElement);
    for (const name of ["--ground", "--panel", "--chosen"]) {
        check(document.body, root.getPropertyValue("--accent"), pixel(root.getPropertyValue(name)), 3, `focus ring on ${name}`);
    }
    for (const node of document.querySelectorAll("button, input, select, textarea, a, [role=progressbar], [role=img], dialog, section, nav")) {
        if (!node.checkVisibility()) continue;
        const by = (node.getAttribute("aria-labelledby") ?? "").split(" ").map((id) => document.getElementById(id)?.textContent ?? "").join("");
        if (!(node.getAttribute("aria-label") || by || node.textContent.trim() || node.labels?.[0]?.textContent.trim())) found.push(`no name: ${node.outerHTML}`);
    }
    const ids = [...document.querySelectorAll("[id]")].map((node) => node.id);
    for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) found.push(`twice: #${id}`);
    return found;
}"""


def check_access(page, what):
    found = page.evaluate(PROBLEMS)
    assert not found, (what, found)


def access(browser):
    """Checks contrasts, names and ids in the views of the page, light and dark."""
    bench.run("get", "-b", "-d", bench.downloads, bench.files + "/slow/seen.bin", bench.files + "/busy/waits.bin", bench.files + "/small/seen2")
    for scheme in ["light", "dark"]:
        page = open_page(browser, scheme=scheme)
        wait("rows", lambda: page.locator("#rows tr[data-id]").count() > 5)
        wait("progress", lambda: "%" in row(page, "seen.bin").inner_text())
        check_access(page, "list")
        tree = page.locator("main").aria_snapshot()
        for word in ["table", "columnheader \"Name\"", "progressbar", "row", "cell", "button \"Pause seen.bin\""]:
            assert word in tree, (word, tree[:2000])
        assert page.locator("[aria-live]").count() == 1
        row(page, "seen.bin").locator("input").check()
        row(page, "seen.bin").locator(".name").click()
        page.locator("#details h2", has_text="seen.bin").wait_for()
        check_access(page, "details")
        row(page, "seen.bin").focus()
        page.keyboard.press("m")
        check_access(page, "menu")
        page.keyboard.press("Escape")
        page.keyboard.press("Delete")
        check_access(page, "removing")
        page.keyboard.press("Escape")
        page.keyboard.press("?")
        check_access(page, "help")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.get_by_text("Options").click()
        check_access(page, "adding")
        page.keyboard.press("Escape")
        page.evaluate("document.body.classList.add('stale')")
        check_access(page, "old data")
        page.context.close()
    done("contrasts of text, bars, icons and borders, names of controls, ids: light and dark")


def low(browser):
    """A zoom of 400 % on a screen of 1280 x 1024."""
    page = open_page(browser, 320, 256)
    wait("rows", lambda: page.locator("#rows tr[data-id]").count() > 3)
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.locator("#list").bounding_box()["height"] >= 200
    page.locator("#rows tr[data-id]").nth(1).focus()
    page.keyboard.press("ArrowDown")
    assert visible(page.locator("#rows tr:focus"))
    page.keyboard.press("Enter")
    page.locator("#details h2").wait_for()
    page.get_by_label("Close details").click()
    page.locator("#add").click()
    assert page.evaluate("document.getElementById('adding').scrollWidth") <= 320
    page.keyboard.press("Escape")
    for width in [320, 360, 640, 641, 700, 800, 1024]:
        page.set_viewport_size({"width": width, "height": 700})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        assert page.locator("#keys").bounding_box()["x"] + page.locator("#keys").bounding_box()["width"] <= width, width
    page.context.close()
    done("at 320 x 256 pixels the list has height, and at no width anything scrolls sideways")


def adding(browser):
    page = open_page(browser)
    row(page, "one.bin").wait_for()
    answer = {"version": 1, "url": "", "name": "real-name.iso", "size": 5_000_000, "resumable": True, "exists": True}
    page.route("**/v1/probe", lambda route: route.fulfill(json=answer))
    page.keyboard.press("a")
    page.locator("#urls").fill(f"{bench.files}/slow/one.bin")
    preview = page.locator("#preview")
    preview.get_by_text("real-name.iso · 4.8 MiB · resumable · a file of this name exists").wait_for()
    preview.get_by_text("you have this already: one.bin").wait_for()
    page.get_by_text(re.compile("free, .* after this")).wait_for()
    done("before it is added, a download is looked at: name, size, whether it exists already, and the space")
    text = f"{bench.files}/small/good1\nnonsense\n# a comment\n{bench.files}/small/good2"
    page.locator("#urls").fill(text)
    page.get_by_label("Subfolder").fill("kept")
    page.get_by_text("Options").click()
    page.get_by_label("Priority").fill("3")
    page.get_by_label("Password").fill("hidden-password")
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("Line 2: “nonsense” is not an address").wait_for()
    assert page.locator("#urls").input_value() == text and row(page, "good1").count() == 0
    page.get_by_role("button", name="Add the other 2").click()
    state(page, "good1", "finished")
    state(page, "good2", "finished")
    assert page.locator("#urls").input_value() == "nonsense" and page.locator("#adding").is_visible()
    done("a bad line is named by its number; the other lines are added after a confirmation; the bad line stays")
    sent = []

    def take(route):
        if "metalink" not in (route.request.post_data or ""):
            return route.continue_()
        sent.append(route.request.post_data_json)
        route.fulfill(json={"version": 1, "downloads": [{"id": 1, "kind": "inserted", "name": "inside.bin", "state": "queued"}]})

    page.route("**/v1/downloads", take)
    document = ('<?xml version="1.0"?><metalink xmlns="urn:ietf:params:xml:ns:metalink"><file name="inside.bin"><size>1000</size>'
                f'<url>{bench.files}/small/inside.bin</url></file></metalink>')
    page.locator("#urls").fill("")
    page.set_input_files("#files", [{"name": "a.meta4", "mimeType": "application/metalink4+xml", "buffer": document.encode()},
                                    {"name": "list.txt", "mimeType": "text/plain", "buffer": f"{bench.files}/small/good3\n".encode()}])
    page.get_by_text("a.meta4: inside.bin, 1000 B").wait_for()
    assert "good3" in page.locator("#urls").input_value()
    page.get_by_role("dialog").get_by_role("button", name="Add", exact=True).click()
    state(page, "good3", "finished")
    assert sent[0]["metalink"] == document and sent[0]["folder"].endswith("/kept") and "urls" not in sent[0]
    done("a Metalink file and a list are taken from files")
    page.reload()
    row(page, "one.bin").wait_for()
    page.evaluate("""(text) => { const data = new DataTransfer(); data.items.add(new File([text], "dropped.meta4"));
        document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true })); }""", document)
    page.get_by_text("dropped.meta4: inside.bin").wait_for()
    assert page.get_by_label("Subfolder").input_value() == "kept" and page.locator("#priority").input_value() == "3"
    assert "hidden-password" not in page.evaluate("JSON.stringify(localStorage)")
    done("a Metalink file is dropped; the folder and the options are remembered, passwords are not")
    page.context.close()


def menu(browser):
    page = open_page(browser)
    row(page, "one.bin").wait_for()
    tools = page.locator("#tools [data-do]")
    assert all(tools.nth(index).is_disabled() for index in range(4))
    name = "menu.bin"
    bench.run("get", "-b", "-d", bench.downloads, f"{bench.files}/slow/{name}")
    state(page, name, "running")
    row(page, name).get_by_role("button", name=f"Pause {name}").click()
    state(page, name, "paused")
    done("the button of a row pauses it; without a choice the tools are disabled")
    row(page, name).click(button="right")
    items = page.get_by_role("menuitem")
    wait("the menu has the focus", lambda: page.evaluate("document.activeElement.getAttribute('role')") == "menuitem")
    assert items.all_inner_texts()[0].startswith("Details")
    page.keyboard.press("End")
    assert page.locator(":focus").inner_text().startswith("Remove")
    page.keyboard.press("ArrowDown")
    assert page.locator(":focus").inner_text().startswith("Details")
    page.keyboard.press("Escape")
    assert page.get_by_role("menu").count() == 0
    assert page.evaluate("document.activeElement.matches('tr')")
    page.keyboard.press("m")
    items.filter(has_text="Speed limit").press("Enter")
    page.get_by_label("Limit, such as").fill("nothing")
    page.keyboard.press("Enter")
    page.get_by_text("Give a speed such as").wait_for()
    page.get_by_label("Limit, such as").fill("300K")
    page.keyboard.press("Enter")
    wait("the dialog closes", lambda: page.locator("#asking").is_hidden())
    page.keyboard.press("m")
    items.filter(has_text="Priority").press("Enter")
    page.locator("#answer").fill("7")
    page.keyboard.press("Enter")
    wait("the dialog closes", lambda: page.locator("#asking").is_hidden())
    kept = [json.loads(line) for line in bench.run("list", "--all", "--json").splitlines() if name in line]
    assert kept[0]["priority"] == 7, kept
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.keyboard.press("m")
    items.filter(has_text="Copy link").press("Enter")
    page.locator("#note", has_text="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == f"{bench.files}/slow/{name}"
    page.keyboard.press("m")
    items.filter(has_text="New URL").press("Enter")
    page.locator("#answer").fill(f"{bench.files}/slow/menu.bin?again")
    page.keyboard.press("Enter")
    state(page, name, "running")
    done("the menu: arrows, Escape, limit, priority, copying, another URL")
    page.context.close()


def sorting(browser):
    page = open_page(browser)
    row(page, "one.bin").wait_for()
    header = page.get_by_role("columnheader", name="Name")
    header.get_by_role("button").click()
    wait("sorted by name", lambda: header.get_attribute("aria-sort") == "ascending")
    names = lambda: [text.split()[0] for text in page.locator("#rows tr[data-id] .name").all_inner_texts()]  # noqa: E731
    wait("the order", lambda: names() == sorted(names()))
    header.get_by_role("button").click()
    wait("the other order", lambda: names() == sorted(names(), reverse=True))
    page.reload()
    row(page, "one.bin").wait_for()
    assert page.get_by_role("columnheader", name="Name").get_attribute("aria-sort") == "descending"
    header.get_by_role("button").click()
    wait("not sorted", lambda: header.get_attribute("aria-sort") is None)
    done("the list is sorted by a column, and the browser remembers it")
    row(page, "q1").focus()
    page.keyboard.press("c")
    state(page, "q1", "cancelled")
    page.keyboard.press("4")
    wait("only finished ones", lambda: row(page, "one.bin").count() == 1 and row(page, "q1").count() == 0)
    page.get_by_role("link", name="Cancelled 1").wait_for()
    page.locator("#clear").click()
    page.get_by_text(re.compile(r"Clear \d+ finished downloads from the list\?")).wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    wait("it has left the list", lambda: row(page, "one.bin").count() == 0)
    assert os.path.exists(bench.downloads + "/one.bin")
    done("cancelled ones are not finished; finished ones leave the list, and their files stay")
    page.context.close()


def details(browser):
    bench.run("get", "-b", "-x", "2", "--limit-rate", "150K", "-d", bench.downloads, bench.files + "/slow/detailed.bin")
    page = open_page(browser)
    state(page, "waits.bin", "503, again in")
    box = page.locator("#details")
    row(page, "waits.bin").locator(".name").click()
    box.get_by_text(re.compile(r"503, again in \d+ min")).wait_for()
    row(page, "detailed.bin").locator(".name").click()
    box.locator("h2", has_text="detailed.bin").wait_for()
    wait("the line", lambda: (box.locator("polyline").get_attribute("points") or "").count(",") > 2)
    for text in ["2, as asked for", "now", "30 s ago"]:
        box.get_by_text(text).first.wait_for()
    box.get_by_role("button", name="Pause").click()
    state(page, "detailed.bin", "paused")
    box.get_by_role("button", name="Resume").click()
    state(page, "detailed.bin", "running")
    done("details: what a download waits for, its speed, its connections, and buttons")
    page.context.close()


def busy(browser):
    page = open_page(browser)
    state(page, "waits.bin", "503")
    refusal = {"status": 429, "headers": {"Retry-After": "3"}, "body": "too many wrong secrets; wait a minute"}
    page.route("**/v1/**", lambda route: route.fulfill(**refusal))
    page.get_by_text(re.compile("server is busy .too many wrong secrets.*tries again at .*The list is from")).wait_for()
    assert page.locator("#login").is_hidden() and page.evaluate("sessionStorage.length") == 1
    assert page.locator("#rows tr[data-id]").count() > 3 and page.evaluate("document.body.matches('.stale')")
    picture(page, "busy")
    page.unroute("**/v1/**")
    wait("it answers again", lambda: page.locator("#offline").is_hidden() and not page.evaluate("document.body.matches('.stale')"), 10)
    done("a busy server: the page keeps its login, marks the list as old, and tries again")
    page.context.close()


def title(browser):
    init = "window.notices = []; window.Notification = class { static permission = 'granted'; static async requestPermission() { return 'granted'; } constructor(title, { body }) { notices.push(`${title}: ${body}`); } };"
    page = open_page(browser, before=lambda page: page.add_init_script(init))
    row(page, "waits.bin").wait_for()
    page.keyboard.press("?")
    assert not page.get_by_label("Show a notice").is_checked()
    page.get_by_label("Show a notice").check()
    page.keyboard.press("Escape")
    wait("no other download runs", lambda: page.locator("[data-count=running]").inner_text() == "0", 60)
    bench.run("get", "-b", "-d", bench.downloads, bench.files + "/slow/titled.bin")
    wait("the title, the icon and the header", lambda: re.fullmatch(r"\d+ % · \d – dlm data:image/svg\+xml,.* \d+ %.*", page.evaluate(
        "[document.title, document.getElementById('icon').href, document.getElementById('progress').textContent].join(' ')")))
    wait("the notice", lambda: page.evaluate("notices.join()").count("Download finished: titled.bin") == 1, 60)
    wait("the title without numbers", lambda: page.title() == "dlm")
    done("the title and the icon show the progress, and a notice the end")
    page.keyboard.press("l")
    for text, limit, shown in [("2M", 2 << 20, "2.0 MiB/s"), ("300K", 300 << 10, "300 KiB/s"), ("none", 0, "")]:
        page.locator("#limit").fill(text)
        page.locator("#limit").press("Enter")
        wait(text, lambda: page.locator("#limit").input_value() == shown)
        assert page.evaluate("""fetch("/v1/session", { headers: { Authorization: `Bearer ${sessionStorage.getItem("dlm-secret")}` } })
            .then((answer) => answer.json()).then(({ rateLimit }) => rateLimit ?? 0)""") == limit
    manifest = page.evaluate("fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())")
    assert manifest["display"] == "standalone" and manifest["icons"]
    names = ["/", "page.css", "page.js", "api.js", "list.js", "details.js", "format.js", "add.js", "menu.js", "icon.svg", "manifest.json"]
    size = page.evaluate("(names) => Promise.all(names.map((name) => fetch(name).then((answer) => answer.arrayBuffer())))"
                         ".then((all) => all.reduce((sum, one) => sum + one.byteLength, 0))", names)
    assert size < 90_000, size
    done(f"the limit takes any speed; the page can be installed, and has {size} bytes")
    page.context.close()


def many(browser):
    listed = bench.home + "/list"
    with open(listed, "w") as file:
        file.writelines(f"{bench.files}/small/many/{number:05}.bin\n" for number in range(10_000))
    bench.run("get", "-b", "--paused", "-d", bench.downloads + "/many", "-i", listed)
    page = open_page(browser, before=lambda page: page.route("**/v1/downloads?*after=*", lambda route: (time.sleep(0.2), route.continue_())))
    rows = page.locator("#rows tr[data-id]")
    wait("the first rows", lambda: rows.count() > 10, 60)
    assert page.locator("[data-count=all]").inner_text().endswith("+")
    # While the list is loading, the counts end in a plus sign.
    wait("all are counted", lambda: re.fullmatch(r"1\d{4}", page.locator("[data-count=waiting]").inner_text()), 60)
    done("10,000 downloads: the newest are shown before the others are loaded")
    assert rows.count() < 60
    slowest = page.evaluate("""new Promise((done) => { const box = document.getElementById("list"); let last = performance.now();
        let worst = 0, left = 60; const step = () => { const now = performance.now(); worst = Math.max(worst, now - last); last = now;
        box.scrollTop += 3000; if (left--) requestAnimationFrame(step); else done(Math.round(worst)); }; step(); })""")
    assert rows.count() < 60
    assert int(page.locator("table").get_attribute("aria-rowcount")) > 10_000
    picture(page, "many")
    done(f"10,000 downloads: fewer than 60 rows are in the page; the slowest frame while scrolling took {slowest} ms")
    page.locator("#search").fill("many/0004")
    wait("the rows that match", lambda: page.locator("table").get_attribute("aria-rowcount") == "11", 2)
    assert rows.first.inner_text().startswith("0004") and visible(rows.first)
    page.locator("#search").fill("")
    page.keyboard.press("Escape")
    wait("all rows again", lambda: int(page.locator("table").get_attribute("aria-rowcount")) > 10_000)
    page.keyboard.press("End")
    wait("the end", lambda: page.locator("#rows tr[data-id]:focus").count() == 1)
    page.get_by_role("columnheader", name="Name").get_by_role("button").click()
    wait("the first by name", lambda: rows.first.inner_text().startswith("00000.bin") and visible(rows.first), 5)
    done("a search and a sort show their first rows, although the list was scrolled down")
    page.context.close()


try:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/lib/chromium/chromium", args=["--no-sandbox"])
        for test in [log_in, by_keyboard, queue, phone, access, low, menu, adding, details, sorting, busy, title, many]:
            test(browser)
        browser.close()
    assert not problems, problems
    done("no error, no breach of the policy, and nothing was asked of another server")
finally:
    bench.end()
print(f"{passed} passed, 0 failed")
