/**
 * What this extension and the server say to each other beyond the Language Server Protocol.
 *
 * The server's side is `server/app/src/lsp`; a field that the server leaves out means "not known".
 */

/** Sent with `initialize` (as initializationOptions) and, on every change, as the `settings` of
 * `workspace/didChangeConfiguration`. */
export interface Configuration {
  /** Whether the user trusts this workspace. Only the editor decides; no file of it can. */
  readonly trusted: boolean;
  /** What the user or the workspace has set, nested by the dots of the key. Defaults are left out:
   * the server knows them, and `tileperf.toml` ranks above them. */
  readonly settings: Record<string, unknown>;
}

/** Server to client, whenever it changes. */
export const STATUS_NOTIFICATION = "tileperf/status";

/** What the server is doing. Dormant: no file has mentioned `cuda.tile` yet. */
export interface ServerStatus {
  readonly state: "dormant" | "indexing" | "ready" | "error";
  readonly message?: string | null;
  readonly kernels?: number | null;
  readonly files?: number | null;
}

/** Client to server, with an empty object. */
export const SERVER_INFO_REQUEST = "tileperf/serverInfo";

/** What the server knows about itself. */
export interface ServerInfo {
  readonly version?: string | null;
  readonly pid?: number | null;
  /** The unit of columns that was negotiated: utf-8 or utf-16. */
  readonly encoding?: string | null;
  readonly files?: number | null;
  readonly kernels?: number | null;
  readonly indexSeconds?: number | null;
  /** What kernels are compiled with, or why they are not; null before the first. */
  readonly compiler?: string | null;
  /** What is being compiled. */
  readonly compiling?: readonly string[] | null;
  readonly settings?: Record<string, unknown> | null;
  /** What is wrong with the settings, one sentence each. */
  readonly problems?: readonly (string | { readonly message: string })[] | null;
}

/** The sentences of `problems`, whichever of its two forms the server used. */
export function problemTexts(info: ServerInfo | undefined): string[] {
  return (info?.problems ?? []).map((problem) =>
    typeof problem === "string" ? problem : problem.message,
  );
}

/** The command of a clickable lens: document, position and uses of a kernel. */
export const SHOW_USES_COMMAND = "tileperf.showUses";

/** The command that lets the user choose among a kernel's signatures: `{ uri, position }`. */
export const CHOOSE_SIGNATURE_COMMAND = "tileperf.chooseSignature";

/** What a kernel can be shown compiled for, the best first. */
export interface KernelSignatures {
  readonly kernel: string;
  /** Which of the kernels of that name in the file. */
  readonly ordinal: number;
  readonly signatures: readonly {
    /** From 1. */
    readonly number: number;
    readonly signature: string;
    /** Where it comes from, in words. */
    readonly origin: string;
    /** What is assumed of its arrays. */
    readonly assumed: string;
    readonly shown: boolean;
  }[];
}
