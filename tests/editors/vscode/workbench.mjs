// VS Code's window as a user sees it: what stands where, and the keys to press.

import { basename } from "node:path";
import { check, until } from "./until.mjs";

/** Opening VS Code for the first time compiles and caches much. */
const FIRST_START_MS = 120_000;

export class Workbench {
  /** @param {import("playwright-core").Page} page */
  constructor(page) {
    this.page = page;
  }

  /** Waits for the window to be drawn and its keys to work. */
  async ready() {
    await this.page.waitForSelector(".monaco-workbench", { timeout: FIRST_START_MS });
    await this.page.waitForSelector(".statusbar-item", { timeout: FIRST_START_MS });
  }

  async screenshot(file) {
    await this.page.screenshot({ path: file });
  }

  // Quick input: files, symbols, commands.

  /** Opens the quick input with `text` in it; `>` in front makes it the command palette. */
  async quickInput(text) {
    const input = this.page.locator(".quick-input-widget .quick-input-box input");
    await until(`the quick input, to type "${text}"`, async () => {
      if (!(await input.isVisible())) {
        await this.page.keyboard.press("F1");
      }
      await input.fill(text, { timeout: 1000 });
      return (await input.inputValue()) === text;
    });
  }

  /** The rows that the quick input shows now, name and description on one line. */
  async quickRows() {
    const rows = this.page.locator(".quick-input-list .monaco-list-row");
    const parts = await rows.evaluateAll((all) =>
      all.map((row) =>
        [
          ...row.querySelectorAll(".label-name, .label-description, .quick-input-list-separator"),
        ].map((part) => part.textContent ?? ""),
      ),
    );
    return parts.map((texts) => clean(texts.join(" ")));
  }

  /** Waits for a row that matches, and returns all rows. */
  async quickRow(pattern, what) {
    let rows = [];
    await until(
      what,
      async () => {
        rows = await this.quickRows();
        return rows.some((row) => pattern.test(row));
      },
      { seen: () => rows },
    );
    return rows;
  }

  async closeQuickInput() {
    await until("the quick input to close", async () => {
      await this.page.keyboard.press("Escape");
      return !(await this.page.locator(".quick-input-widget").isVisible());
    });
  }

  /** Runs a command by its title. */
  async command(title) {
    let rows = [];
    const offered = async () => {
      rows = await this.quickRows();
      return rows[0]?.startsWith(title);
    };
    await until(
      `the command "${title}" in the palette`,
      async () => {
        // The palette lists the commands there were when it opened; extensions add theirs later.
        await this.quickInput(`>${title}`);
        return until("a row", offered, { limit: 3000 }).catch(() => this.closeQuickInput());
      },
      { seen: () => rows },
    );
    await this.page.keyboard.press("Enter");
    await until(
      `the palette to close after "${title}"`,
      async () => !(await this.page.locator(".quick-input-widget").isVisible()),
    );
  }

  // Editors.

  /** Opens a file by its absolute path, with the cursor at a place. */
  async open(path, { line, column } = { line: 1, column: 1 }) {
    await this.quickInput(`${path}:${line}:${column}`);
    await this.quickRow(new RegExp(`^${escape(basename(path))}`), `${path} in the quick input`);
    await this.page.keyboard.press("Enter");
    await this.at(basename(path), { line, column });
  }

  /** Waits for the cursor to be in that file at that place. */
  async at(name, { line, column }) {
    const wanted = `${name}:${line}:${column}`;
    let seen;
    await until(
      `the cursor at ${wanted}`,
      async () => {
        seen = await this.where();
        return seen === wanted;
      },
      { seen: () => seen },
    );
  }

  /** The active editor and its cursor, as `name:line:column`. */
  async where() {
    const tab = this.page.locator(".part.editor .tab.active .label-name");
    const position = this.page.locator("#status\\.editor\\.selection");
    const [name, text] = [
      await tab.innerText({ timeout: 500 }),
      await position.innerText({ timeout: 500 }),
    ];
    const [, line, column] = /Ln (\d+), Col (\d+)/.exec(text) ?? [];
    return `${name}:${line}:${column}`;
  }

  /** The lines of the active editor that are on screen, as drawn: inlay hints included. */
  async drawnLines() {
    const lines = this.#editor().locator(".view-line");
    const drawn = await lines.evaluateAll((all) =>
      all.map((line) => ({ top: parseFloat(line.style.top), text: line.textContent ?? "" })),
    );
    return drawn
      .sort((a, b) => a.top - b.top)
      .map(({ top, text }) => ({ top, text: text.replaceAll("\u00a0", " ") }));
  }

  /** The lenses on screen: their text and the drawn line below each. */
  async lenses() {
    const editor = this.#editor();
    const lenses = await editor.locator(".codelens-decoration").evaluateAll((all) =>
      all.map((lens) => ({
        y: lens.getBoundingClientRect().bottom,
        text: lens.textContent ?? "",
      })),
    );
    const lines = await editor
      .locator(".view-line")
      .evaluateAll((all) =>
        all.map((line) => ({ y: line.getBoundingClientRect().top, text: line.textContent ?? "" })),
      );
    return lenses.map(({ y, text }) => {
      const below = lines.filter((line) => line.y >= y - 3).sort((a, b) => a.y - b.y)[0];
      return { text: clean(text), above: clean(below?.text ?? "") };
    });
  }

  /** The hover over a word, as text; moves the mouse there as often as it takes. */
  async hover(word, what) {
    const target = this.#editor()
      .locator(".view-line span:not(:has(span))")
      .filter({ hasText: new RegExp(`^\\s*${escape(word)}\\s*$`) })
      .first();
    return this.#hoverOver(what, () => target.hover({ timeout: 2000 }));
  }

  /** The hover at the cursor, as text. */
  async hoverAtCursor(what) {
    return this.#hoverOver(what, () => this.command("Show or Focus Hover"));
  }

  /** The hover that comes up after `move`, which is done as often as it takes. */
  async #hoverOver(what, move) {
    const hover = this.page.locator(".monaco-hover:not(.hidden) .hover-contents");
    let seen = "";
    await until(
      what,
      async () => {
        // A hover that came up empty does not fill itself: leave and come back.
        await this.page.mouse.move(5, 5);
        await move();
        await hover.first().waitFor({ timeout: 3000 });
        seen = clean((await hover.allInnerTexts()).join("\n"));
        return seen !== "" && !/^Loading/.test(seen);
      },
      { seen: () => seen },
    );
    return seen;
  }

  /** The lines on screen with what decorations add at their ends, which is no text of the page. */
  async lineEnds() {
    const lines = await this.#editor()
      .locator(".view-line")
      .evaluateAll((all) =>
        all.map((line) => ({
          text: line.textContent ?? "",
          after: [...line.querySelectorAll("span")]
            .map((span) => getComputedStyle(span, "::after").content)
            .filter((content) => /^".*"$/.test(content))
            .map((content) => JSON.parse(content))
            .join(""),
        })),
      );
    return lines.map(({ text, after }) => ({ text: clean(text), after: clean(after) }));
  }

  /** The hover over what a decoration adds at the end of the line that contains `word`. */
  async hoverAfter(word, what) {
    const line = this.#editor().locator(".view-line").filter({ hasText: word }).first();
    const target = line.locator("> span > span").last();
    return this.#hoverOver(what, async () => {
      // What is added can be longer than the window: its beginning, behind the margin, is in sight.
      const box = await target.boundingBox({ timeout: 2000 });
      await this.page.mouse.move(box.x + 60, box.y + box.height / 2);
    });
  }

  /** The text of the active editor; it must be short enough to be on screen. */
  async text() {
    return (await this.drawnLines()).map(({ text }) => text).join("\n");
  }

  #editor() {
    return this.page.locator(".part.editor .editor-group-container.active .monaco-editor").first();
  }

  // Around the editor.

  /** The text of tileperf's status item, or undefined when there is none. */
  async status() {
    const item = this.page.locator('.statusbar-item[id^="tileperf."]');
    return (await item.count()) > 0 && (await item.first().isVisible())
      ? clean(await item.first().innerText())
      : undefined;
  }

  /** Waits for the status item to match. */
  async statusIs(pattern) {
    let seen;
    await until(
      `a status item that matches ${pattern}`,
      async () => {
        seen = await this.status();
        return seen !== undefined && pattern.test(seen);
      },
      { seen: () => seen ?? "no status item" },
    );
    return seen;
  }

  /** The notifications on screen: message and buttons. */
  async notifications() {
    const toasts = this.page.locator(".notification-toast .notification-list-item");
    return (await toasts.allInnerTexts()).map(clean);
  }

  /** The rows of the list of problems, files among them; a code with a link has its address. */
  async problems() {
    const rows = this.page.locator(".markers-panel .monaco-list-row");
    const found = await rows.evaluateAll((all) =>
      all.map((row) => ({
        text: row.textContent ?? "",
        link: row.querySelector("a.monaco-link")?.getAttribute("href") ?? "",
      })),
    );
    return found.map(({ text, link }) => ({ text: clean(text), link }));
  }

  /** Whether an open context menu has an item with this title. */
  async contextMenuHas(title) {
    // VS Code draws its context menus in a shadow tree, which locators look into.
    const item = this.page.locator(".context-view .action-label", { hasText: title });
    return (await item.count()) > 0 && (await item.first().isVisible());
  }

  /** The texts of the pages that panels show. */
  async webviews() {
    const frames = this.page.frames().filter((frame) => frame.parentFrame());
    const texts = await Promise.all(
      frames.map((frame) =>
        frame
          .locator("body")
          .innerText({ timeout: 1000 })
          .catch(() => ""),
      ),
    );
    return texts.map(clean).filter((text) => text !== "");
  }

  /** Runs "Show Server Info" and returns its text, once it matches. */
  async serverInfo(pattern, what) {
    let seen = "";
    await this.command("tileperf: Show Server Info");
    await until(
      what,
      async () => {
        seen = (await this.where()).startsWith("tileperf server.md") ? await this.text() : "";
        if (pattern.test(seen)) {
          return true;
        }
        // The document follows the server's state by itself, except for what only a question tells.
        if (seen !== "") {
          await this.command("tileperf: Show Server Info");
        }
        return false;
      },
      { seen: () => seen },
    );
    return seen;
  }

  /** The pid that the server tells of itself. */
  async serverPid() {
    const info = await this.serverInfo(/Process: \d+/, "the server's process number");
    const pid = Number(/Process: (\d+)/.exec(info)?.[1]);
    check(pid > 1, `the server says its process is ${pid}`);
    return pid;
  }
}

/** Non-breaking spaces to spaces, without the ends. */
function clean(text) {
  return text.replaceAll("\u00a0", " ").trim();
}

/** `text` for use inside a regular expression. */
export function escape(text) {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}
