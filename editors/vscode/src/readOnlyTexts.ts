/**
 * Texts of this extension as read-only documents: they can be searched and copied, and closing one
 * asks nothing.
 */

import * as vscode from "vscode";

const SCHEME = "tileperf";

export class ReadOnlyTexts implements vscode.Disposable {
  readonly #texts = new Map<string, () => string>();
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly #registration: vscode.Disposable;

  constructor() {
    this.#registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, {
      onDidChange: this.#changed.event,
      provideTextDocumentContent: ({ path }) => this.#texts.get(path)?.(),
    });
  }

  /** Opens the document of that file name, with what `text` gives now and after each `refresh`. */
  async show(name: string, text: () => string): Promise<void> {
    this.#texts.set(name, text);
    this.refresh(name);
    const document = await vscode.workspace.openTextDocument(uriOf(name));
    await vscode.window.showTextDocument(document, { preview: true });
  }

  /** Brings a document that may be open up to date. */
  refresh(name: string): void {
    this.#changed.fire(uriOf(name));
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}

function uriOf(name: string): vscode.Uri {
  return vscode.Uri.from({ scheme: SCHEME, path: name });
}
