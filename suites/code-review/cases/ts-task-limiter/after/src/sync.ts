import { Slots } from "./slots.js";
import type { LocalFile, Remote } from "./remote.js";

export interface SyncReport {
  readonly uploaded: string[];
  readonly failed: { path: string; reason: string }[];
}

export interface SyncOptions {
  /** How many files may be on their way together. */
  readonly parallel?: number;
  readonly onProgress?: (done: number, total: number) => void;
}

/** Uploads several files together, and goes on where one fails. */
export async function sync(
  files: readonly LocalFile[],
  remote: Remote,
  { parallel = 4, onProgress = () => {} }: SyncOptions = {},
): Promise<SyncReport> {
  const slots = new Slots(parallel);
  let done = 0;
  const results = await Promise.allSettled(
    files.map((file) =>
      slots.run(async () => {
        await remote.upload(file);
        done += 1;
        onProgress(done, files.length);
      }),
    ),
  );
  const report: SyncReport = { uploaded: [], failed: [] };
  results.forEach((result, index) => {
    const { path } = files[index]!;
    if (result.status === "fulfilled") {
      report.uploaded.push(path);
    } else {
      report.failed.push({ path, reason: String(result.reason) });
    }
  });
  return report;
}
