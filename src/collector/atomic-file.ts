import { open, rename, unlink } from 'node:fs/promises';
import path from 'node:path';

/** Replaces a file by one with this text, durably: whoever reads it, after whatever crash, finds the one or the other. */
export async function replaceFile(file: string, text: string): Promise<void> {
  const draft = `${file}.draft`;
  const handle = await open(draft, 'w', 0o600);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } catch (error) {
    await unlink(draft).catch(() => undefined);
    throw error;
  } finally {
    await handle.close();
  }
  await rename(draft, file);
  await syncFolder(path.dirname(file));
}

/** Makes the names in a folder durable, where the file system can. */
export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch {
    // Some file systems do not sync folders; their names are as durable as they get.
  }
}
