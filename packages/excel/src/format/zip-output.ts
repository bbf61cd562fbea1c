import { constants, crc32, deflateRawSync } from 'node:zlib';
import { Problem, type ByteOutput } from '@pgway/core';
import { Zip, type ZipInputFile } from 'fflate';

/** Bytes of a file, and of the archive: more need ZIP64, which the library does not write. */
const maxBytes = 0xffff_ffff - 1024 * 1024;
/** Deflate. */
const compression = 8;
/** The same for all archives, so that equal rows are equal bytes. */
const modified = new Date(1980, 0, 1);
/** The level of zlib: lower ones save less than a tenth of the time of a row, and make larger files. */
const level = 4;

/**
 * Writes an archive file after file. The native compressor is several times as fast as that of the library; each piece is a part of one
 * deflate stream, which ends at a byte.
 */
export class ZipOutput {
  #out: ByteOutput | null = null;
  readonly #zip = new Zip((error, bytes) => {
    if (error !== null) throw error;
    this.#size += bytes.length;
    this.#out!.append(bytes);
  });
  #size = 0;
  #file: ZipInputFile | null = null;

  addFile(out: ByteOutput, name: string, content: Buffer): void {
    this.begin(name);
    this.#push(out, content, true);
  }

  /** Begins the last file. */
  begin(filename: string): void {
    this.#file = { filename, size: 0, crc: 0, compression, mtime: modified };
    this.#zip.add(this.#file);
  }

  /** Adds bytes to the last file. @throws Problem for an archive that is too large */
  write(out: ByteOutput, bytes: Buffer): void {
    if (bytes.length > 0) this.#push(out, bytes, false);
  }

  /** Ends the last file and the archive. */
  end(out: ByteOutput): void {
    this.#push(out, Buffer.alloc(0), true);
    this.#out = out;
    this.#zip.end();
    this.#out = null;
  }

  #push(out: ByteOutput, bytes: Buffer, isLast: boolean): void {
    const file = this.#file!;
    file.size += bytes.length;
    file.crc = crc32(bytes, file.crc);
    if (file.size > maxBytes || this.#size > maxBytes) throw tooLarge();
    const finishFlush = isLast ? constants.Z_FINISH : constants.Z_SYNC_FLUSH;
    this.#out = out;
    file.ondata!(null, deflateRawSync(bytes, { level, finishFlush }), isLast);
    this.#out = null;
  }
}

function tooLarge(): Problem {
  return new Problem('unrepresentable-rows', {
    detail:
      'The sheet is larger than 4 GiB; ask for text/csv, or for application/x-ndjson, by the header Accept, or ask for fewer rows.',
  });
}
