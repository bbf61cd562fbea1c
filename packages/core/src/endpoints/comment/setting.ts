import type { ParsedAnnotation } from './parsed-annotation.ts';

/** The identity of a setting, without the type of its value. */
export interface SettingKey {
  /** The name in reports, as in `sets bufferRows to 5`. */
  readonly key: string;
}

/** The key of a value that lines of a comment set: the annotation itself, or an object that several annotations share. */
export interface Setting<in out Value> extends SettingKey {
  /** Returns the effect in reports. Default: `sets <key> to <value>`. */
  readonly effect?: (value: Value) => string;
  /** Absent. Makes the type of the value part of the type of the key. */
  readonly phantom?: (value: Value) => Value;
}

/** The values that a comment sets. */
export class Settings {
  readonly #entries = new Map<SettingKey, { readonly value: unknown; readonly parsed: ParsedAnnotation }>();

  /** Returns null when no line sets the value, or when the last such line removes it. */
  get<Value>(setting: Setting<Value>): Value | null {
    return (this.#entries.get(setting)?.value ?? null) as Value | null;
  }

  isSet(setting: SettingKey): boolean {
    return (this.#entries.get(setting)?.value ?? null) !== null;
  }

  /** Returns the last annotation that set or removed the value, or null. */
  annotationFor(setting: SettingKey): ParsedAnnotation | null {
    return this.#entries.get(setting)?.parsed ?? null;
  }

  set<Value>(setting: Setting<Value>, value: Value | null, parsed: ParsedAnnotation): void {
    this.#entries.set(setting, { value, parsed });
  }
}
