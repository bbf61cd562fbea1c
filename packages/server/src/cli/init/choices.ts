/** What `pgway init` asks, with the switches that answer it. */
import { escapeControlCharacters } from '@pgway/core/terminal';
import type { Override } from '../../config/layers.ts';
import type { Ask } from '../secret-input.ts';

interface Choice {
  readonly name: string;
  /** What the question shows. */
  readonly text: string;
}

interface Question {
  readonly text: string;
  /** The first one is the default. */
  readonly choices: readonly [Choice, ...Choice[]];
}

const questions = {
  publish: {
    text: 'What do you publish?',
    choices: [
      { name: 'files', text: 'queries in SQL files' },
      { name: 'functions', text: 'functions of the database' },
      { name: 'tables', text: 'tables' },
    ],
  },
  'sign-in': {
    text: 'How do people sign in?',
    choices: [
      { name: 'none', text: 'not at all, for now' },
      { name: 'cookie', text: 'with a password, in a browser: a cookie' },
      { name: 'jwt', text: 'with a password, in an app: a signed token (JWT)' },
    ],
  },
} as const satisfies Readonly<Record<string, Question>>;

type NameOf<Key extends keyof typeof questions> = (typeof questions)[Key]['choices'][number]['name'];

/** The answers. */
export interface Choices {
  /** A connection string; null: the embedded PostgreSQL, or `DATABASE_URL` where it is set. */
  readonly database: string | null;
  readonly publish: NameOf<'publish'>;
  readonly signIn: NameOf<'sign-in'>;
}

const switches = ['database', ...Object.keys(questions)];

const isQuestion = (key: string): key is keyof typeof questions => Object.hasOwn(questions, key);

/** Returns a message for each option of the command line that is not a switch of `pgway init`, or has a wrong value. */
export function switchIssues(overrides: readonly Override[]): readonly string[] {
  return overrides.flatMap(({ key, value }) => {
    if (!switches.includes(key)) {
      const known = switches.map((name) => `--${name}`).join(', ');
      return [`--${key}: pgway init takes ${known} and no settings; edit the file that it writes`];
    }
    if (key === 'database') return value ? [] : ['--database: needs a connection string, or embedded'];
    const names: readonly string[] = isQuestion(key) ? questions[key].choices.map(({ name }) => name) : [];
    return value !== null && names.includes(value) ? [] : [`--${key}: must be ${names.join(', ')}`];
  });
}

/**
 * Returns the answers of the switches, and of the terminal to questions without a switch.
 * @param ask null: there is no terminal, or `--yes` is passed; the defaults answer the questions
 * @param hasDatabase whether the environment names a database
 */
export async function choose(overrides: readonly Override[], hasDatabase: boolean, ask: Ask | null): Promise<Choices> {
  const given = new Map(overrides.map(({ key, value }) => [key, value]));
  const database = given.get('database') ?? (hasDatabase ? null : await askForDatabase(ask));
  const pick = async <Key extends keyof typeof questions>(key: Key): Promise<NameOf<Key>> =>
    (given.get(key) as NameOf<Key> | undefined) ?? ((await askForChoice(questions[key], ask)) as NameOf<Key>);
  return {
    database: database === 'embedded' ? null : database,
    publish: await pick('publish'),
    signIn: await pick('sign-in'),
  };
}

async function askForDatabase(ask: Ask | null): Promise<string | null> {
  if (ask === null) return null;
  const question = 'Connection string of the database (empty: a PostgreSQL from npm): ';
  return (await ask(question, false)).trim() || null;
}

/** Asks until the answer is a number or a name of the list. */
async function askForChoice({ text, choices }: Question, ask: Ask | null): Promise<string> {
  if (ask === null) return choices[0].name;
  const list = choices.map((choice, index) => `  ${index + 1}  ${choice.text}\n`).join('');
  for (let question = `${text}\n${list}[1] `; ;) {
    const answer = (await ask(question, false)).trim();
    if (answer === '') return choices[0].name;
    const found = choices.find(({ name }, index) => answer === name || answer === String(index + 1));
    if (found !== undefined) return found.name;
    question = `"${escapeControlCharacters(answer)}" is not one of the choices; enter a number from 1 to ${choices.length}: `;
  }
}
