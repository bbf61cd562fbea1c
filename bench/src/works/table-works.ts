import { deepStrictEqual } from 'node:assert/strict';

import { parseBody } from './routine-works.ts';
import type { BenchRequest, BenchResponse, Work } from './work.ts';
import { getRequest, jsonRequest } from './work.ts';

/** Rows of `bench.note` at the start. */
export const noteRows = 1000;
const authors = 20;
const pageRows = 20;

interface Note {
  readonly id: number;
  readonly author: number;
  readonly title: string;
  readonly done: boolean;
  readonly priority: number;
}

/** Returns the row of `bench.note` with this id at the start. */
function expectedNote(id: number): Note {
  return { id, author: id % authors, title: `Note ${id}`, done: false, priority: id % 5 };
}

/** Reads and writes of a table. Each request concerns other rows. */
export const tableWorks: readonly Work[] = [
  tableWork('read', {
    request: (number) => getRequest(`/note?id=${noteId(number)}`),
    expected: (number) => [expectedNote(noteId(number))],
  }),
  tableWork('list', {
    request: (number) => getRequest(`/note?author=${number % authors}&id=lte.${noteRows}&order=id&limit=${pageRows}`),
    expected: (number) =>
      Array.from({ length: pageRows }, (_, index) => expectedNote((number % authors || authors) + index * authors)),
  }),
  tableWork('insert', {
    request: (number) =>
      jsonRequest('PUT', '/note/returning', { author: -1, title: `New ${number}`, priority: number % 5 }),
    expected: (number) => [{ id: 0, author: -1, title: `New ${number}`, done: false, priority: number % 5 }],
    ignoreId: true,
  }),
  tableWork('update', {
    // `done` and `priority` keep their values: the other works expect them.
    request: (number) =>
      jsonRequest('POST', '/note/returning', { id: noteId(number), title: `Note ${noteId(number)}`, done: false }),
    expected: (number) => [expectedNote(noteId(number))],
  }),
];

function noteId(number: number): number {
  return 1 + ((number * 7) % noteRows);
}

interface TableWork {
  readonly request: (number: number) => BenchRequest;
  readonly expected: (number: number) => readonly Note[];
  readonly ignoreId?: boolean;
}

function tableWork(name: string, { request, expected, ignoreId = false }: TableWork): Work {
  return {
    name,
    loadRequests: 1000,
    request,
    verify(response: BenchResponse, number: number) {
      const rows = parseBody(response) as readonly Note[];
      // The id of a new row is a number of a sequence.
      const ids = ignoreId ? { id: 0 } : {};
      deepStrictEqual(
        rows.map((row) => ({ ...row, ...ids })),
        expected(number),
      );
    },
    pgbench: null,
    goal: null,
  };
}
