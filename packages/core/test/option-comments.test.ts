import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { authenticationDefaults } from '../src/gateway/options/authentication-options.ts';
import { eventsDefaults, generalDefaults } from '../src/gateway/options/options.ts';
import { endpointDefaults } from '../src/endpoints/options.ts';

/** The comment of an option, which editors show, has its default unless that is off or empty. */

const files = [
  'gateway/options/authentication-options.ts',
  'gateway/options/batch-options.ts',
  'gateway/options/options.ts',
  'endpoints/options.ts',
  'logging/log-observer.ts',
];
const text = files.map((file) => readFileSync(new URL(`../src/${file}`, import.meta.url), 'utf8')).join('\n');

function commentOf(option: string): string {
  const found = new RegExp(`/\\*\\*((?:(?!\\*/)[^])*)\\*/\\n  readonly ${option}\\??:`).exec(text);
  return found?.[1]?.replaceAll(/\n\s*\* ?/g, ' ') ?? 'no comment';
}

function shown(value: unknown): string | null {
  if (typeof value === 'number') return value.toLocaleString('en');
  if (typeof value === 'string') return `\`${value}\``;
  return value === true ? 'true' : null;
}

const defaults = { ...endpointDefaults, ...generalDefaults, ...eventsDefaults, ...authenticationDefaults };
const cases = Object.entries(defaults).flatMap(([option, value]) => {
  const text = shown(value);
  return text === null ? [] : [[option, text] as const];
});

test('there are options to look at', () => {
  expect(cases.length).toBeGreaterThan(50);
});

test.each(cases)('%s: default %s', (option, value) => {
  expect(commentOf(option)).toContain(`Default ${value}`);
});
