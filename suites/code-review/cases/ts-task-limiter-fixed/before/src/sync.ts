import type { LocalFile, Remote } from "./remote.js";

export interface SyncReport {
  readonly uploaded: string[];
  readonly failed: { path: string; reason: string }[];
}

/** Uploads files one after the other, and goes on where one fails. */
export async function sync(files: readonly LocalFile[], remote: Remote): Promise<SyncReport> {
  const report: SyncReport = { uploaded: [], failed: [] };
  for (const file of files) {
    try {
      await remote.upload(file);
      report.uploaded.push(file.path);
    } catch (error) {
      report.failed.push({ path: file.path, reason: String(error) });
    }
  }
  return report;
}
