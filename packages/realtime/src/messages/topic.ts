import { Refusal } from '../refusal.ts';

/** Public and private channels with one name are different topics. */
export interface Topic {
  /** Without the prefix `realtime:`. */
  readonly name: string;
  readonly isPrivate: boolean;
}

/** Bytes, as the length of a topic with its prefix has one byte in binary messages. */
export const maxTopicBytes = 255;

export const topicPrefix = 'realtime:';

/**
 * Returns a name without its prefix.
 * @throws Refusal for a name that binary messages or PostgreSQL cannot have
 */
export function parseTopicName(topic: string): string {
  const name = topic.startsWith(topicPrefix) ? topic.slice(topicPrefix.length) : '';
  if (name === '') throw new Refusal(`The topic does not begin with "${topicPrefix}" and a name`);
  const bytes = Buffer.from(topic);
  if (bytes.length > maxTopicBytes)
    throw new Refusal(`The topic has ${bytes.length} bytes; use at most ${maxTopicBytes}`);
  if (topic.includes('\0') || bytes.toString() !== topic)
    throw new Refusal('The topic has characters that are not valid in UTF-8 texts of PostgreSQL');
  return name;
}

/** Returns the same text for the same topic only. */
export function topicKey({ name, isPrivate }: Topic): string {
  return `${isPrivate ? 'private' : 'public'} ${name}`;
}
