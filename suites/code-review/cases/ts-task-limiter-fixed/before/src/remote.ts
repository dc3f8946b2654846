/** A file on this side. */
export interface LocalFile {
  readonly path: string;
  readonly bytes: number;
}

/** The other side of the synchronisation. */
export interface Remote {
  upload(file: LocalFile): Promise<void>;
}
