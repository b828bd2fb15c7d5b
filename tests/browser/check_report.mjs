// Opens a report in headless Chromium and checks what a reader relies on: no error on the console,
// every chart drawn, nothing asked of the network, no sideways scrolling on a phone.
//   node check_report.mjs CHROMIUM REPORT_HTML [SCREENSHOT_FOLDER]
// It speaks the browser's own protocol over a pipe, so it needs no package.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";

const kAnswerMs = 20_000;   // One answer of the browser.
const kWholeMs = 90_000;    // All of it.
const kSettleMs = 300;      // Charts are redrawn after a change of size or of colours.
const [chromium, report, screenshots] = process.argv.slice(2);
const failures = [];

function check(holds, sentence) {
  console.log(`${holds ? "ok  " : "FAIL"} ${sentence}`);
  if (!holds) failures.push(sentence);
}

class Browser {
  #next = 1;
  #waiting = new Map();
  #buffer = Buffer.alloc(0);
  events = [];

  constructor(program, profile) {
    this.process = spawn(program, ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
      "--no-first-run", "--disable-background-networking", "--disable-component-update", "--mute-audio",
      "--remote-debugging-pipe", `--user-data-dir=${profile}`, "about:blank"],
      { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"], detached: true });
    this.started = new Promise((done, failed) => {
      this.process.once("spawn", done);
      this.process.once("error", () => failed(new Error(
        `${program} cannot be started: ./set_up test installs chromium`)));
    });
    this.process.stdio[3].on("error", () => {});
    this.process.stdio[4].on("data", (bytes) => this.#read(bytes));
  }

  #read(bytes) {
    this.#buffer = Buffer.concat([this.#buffer, bytes]);
    for (let end; (end = this.#buffer.indexOf(0)) >= 0; this.#buffer = this.#buffer.subarray(end + 1)) {
      const message = JSON.parse(this.#buffer.subarray(0, end).toString());
      if (message.id === undefined) {
        this.events.push(message);
        continue;
      }
      const waiting = this.#waiting.get(message.id);
      this.#waiting.delete(message.id);
      if (message.error) waiting?.failed(new Error(message.error.message));
      else waiting?.done(message.result);
    }
  }

  call(method, params = {}) {
    const id = this.#next++;
    const text = JSON.stringify({ id, method, params, sessionId: this.session });
    return new Promise((done, failed) => {
      const timer = setTimeout(() => failed(new Error(`${method}: no answer in ${kAnswerMs} ms`)), kAnswerMs);
      this.#waiting.set(id, { done: (value) => { clearTimeout(timer); done(value); },
                              failed: (error) => { clearTimeout(timer); failed(error); } });
      this.process.stdio[3].write(text + "\0");
    });
  }

  async evaluate(expression) {
    const answer = await this.call("Runtime.evaluate", { expression, returnByValue: true, awaitPromise: true });
    if (answer.exceptionDetails) throw new Error(`${expression}: ${answer.exceptionDetails.text}`);
    return answer.result.value;
  }

  async wait_for(event) {
    for (let waited = 0; waited < kAnswerMs; waited += 50) {
      if (this.events.some((one) => one.method === event)) return;
      await pause(50);
    }
    throw new Error(`${event} did not come in ${kAnswerMs} ms`);
  }

  // Its helpers are in its process group, which is ours alone because it was started detached.
  end() {
    try { process.kill(-this.process.pid, "SIGKILL"); } catch { /* It has ended. */ }
  }
}

function pause(ms) {
  return new Promise((done) => setTimeout(done, ms));
}

async function look(browser, name, width, height, scheme) {
  await browser.call("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  await browser.call("Emulation.setDeviceMetricsOverride",
    { width, height, deviceScaleFactor: 1, mobile: width < 500 });
  await pause(kSettleMs);
  const page = await browser.evaluate(`({
    scroll: document.documentElement.scrollWidth,
    background: getComputedStyle(document.body).backgroundColor,
    figures: document.querySelectorAll("figure[data-chart]").length,
    drawn: Number(document.documentElement.dataset.charts),
    blank: [...document.querySelectorAll("canvas")].filter((canvas) => canvas.width === 0 || canvas.height === 0 ||
      !canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((byte) => byte !== 0)).length,
    spill: [...document.querySelectorAll("canvas")].filter((canvas) =>
      canvas.getBoundingClientRect().right > ${width} + 1).length })`);
  check(page.figures > 0 && page.drawn === page.figures && page.blank === 0,
        `${name}: ${page.drawn} charts of ${page.figures} are drawn, ${page.blank} of them blank`);
  // Not the window's own innerWidth: a phone widens it to what spills over.
  check(page.scroll <= width && page.spill === 0,
        `${name}: the page is ${page.scroll} wide in a window of ${width}`);
  const dark = page.background !== "rgb(255, 255, 255)";
  check(dark === (scheme === "dark"), `${name}: the background is ${page.background}`);
  if (screenshots) {
    const size = await browser.evaluate("document.documentElement.scrollHeight");
    for (let y = 0, part = 0; y < size; y += 2 * height, ++part) {
      const { data } = await browser.call("Page.captureScreenshot", { format: "png", captureBeyondViewport: true,
        clip: { x: 0, y, width, height: part === 0 ? height : 2 * height, scale: 1 } });
      writeFileSync(join(screenshots, `${name}-${part}.png`), Buffer.from(data, "base64"));
      if (part === 0) y -= height;
    }
  }
}

async function check_report(browser) {
  await browser.started;
  const { targetInfos } = await browser.call("Target.getTargets");
  const target = targetInfos.find((one) => one.type === "page");
  browser.session = (await browser.call("Target.attachToTarget", { targetId: target.targetId, flatten: true })).sessionId;
  for (const domain of ["Page", "Runtime", "Network", "Log"]) await browser.call(`${domain}.enable`);
  await browser.call("Network.emulateNetworkConditions",
    { offline: true, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  const url = pathToFileURL(resolve(report)).href;
  await browser.call("Page.navigate", { url });
  await browser.wait_for("Page.loadEventFired");
  await look(browser, "desktop", 1280, 900, "light");
  await look(browser, "phone", 375, 812, "light");
  await look(browser, "phone-dark", 375, 812, "dark");
  await look(browser, "desktop-dark", 1280, 900, "dark");

  const tables = await browser.evaluate(`[...document.querySelectorAll("table")].every((table) =>
    table.caption && table.querySelector("thead th[scope=col]") && table.querySelector("tbody th[scope=row]"))`);
  check(tables, "every table has a caption and scoped heads");
  const reachable = await browser.evaluate(`[...document.querySelectorAll(".box, pre")].every((box) => box.tabIndex === 0)`);
  check(reachable, "everything that scrolls is reached by the keyboard");
  const sizes = await browser.call("Page.printToPDF", { printBackground: false });
  check(sizes.data.length > 10_000, "it prints");

  const requests = browser.events.filter((one) => one.method === "Network.requestWillBeSent")
    .map((one) => one.params.request.url).filter((one) => one !== url && !one.startsWith("data:"));
  check(requests.length === 0, `nothing is asked of the network ${requests.slice(0, 3).join(" ")}`);
  const errors = browser.events.filter((one) => one.method === "Runtime.exceptionThrown" ||
    (one.method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(one.params.type)) ||
    (one.method === "Log.entryAdded" && one.params.entry.level === "error"));
  check(errors.length === 0, `the console has no error ${errors.map((one) => JSON.stringify(one.params)).join(" ").slice(0, 600)}`);
}

if (!report) {
  console.error("usage: node check_report.mjs CHROMIUM REPORT_HTML [SCREENSHOT_FOLDER]");
  process.exit(2);
}
const profile = mkdtempSync(join(tmpdir(), "waitbench-browser-"));
const browser = new Browser(chromium, profile);
const deadline = setTimeout(() => {
  console.error(`not done in ${kWholeMs} ms`);
  browser.end();
  process.exit(1);
}, kWholeMs);
try {
  await check_report(browser);
} catch (error) {
  check(false, error.message);
}
clearTimeout(deadline);
browser.end();
await pause(200);
rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
process.exit(failures.length === 0 ? 0 : 1);
