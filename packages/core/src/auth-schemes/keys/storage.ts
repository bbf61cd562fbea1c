/** A key as storage has it. */
export interface StoredKey {
  readonly text: string;
  /** Where it is, for the words of an error: a file's path, a place among the rows. */
  readonly place: string;
}

/** Where a key ring is kept. Several instances share one, and may read and write at once. */
export interface KeyStorage {
  /** Every key, in any order. */
  read(): Promise<readonly StoredKey[]>;
  /** Adds a key and never changes one: a second write of an id leaves the first. The id is 32 hexadecimal digits. */
  write(id: string, text: string): Promise<void>;
  /** What a host should know of this storage when it starts; null: nothing. */
  warning(): Promise<string | null>;
}
