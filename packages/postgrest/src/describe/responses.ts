/** Responses of tables and functions. */
import type { DescribedContent, DescribedMember, DescribedResponse, DescribedValue } from '@pgway/core/internal';
import type { Target } from '../target.ts';
import { errorValue, list, selectedRow, text } from './values.ts';

export function header(name: string, description: string, value: DescribedValue): DescribedMember {
  return { name, description, required: false, value };
}

/** Returns the media types of rows. */
export function rowsContent(target: Pick<Target, 'columns'>): DescribedContent {
  const row = selectedRow(target);
  return {
    'application/json': list(row),
    'application/vnd.pgrst.object+json': row,
    'text/csv': text,
  };
}

const descriptions: Readonly<Record<string, string>> = {
  300: 'Several relationships or functions have the name: "details" lists them',
  401: 'The token is missing, invalid or has expired (PGRST301 to PGRST303), or the anonymous role lacks a privilege (42501)',
  403: 'The role lacks a privilege, or a policy refuses the row (42501)',
  404: 'Unknown table, column, function or schema (PGRST202, PGRST204, PGRST205, 42P01)',
  405: 'A function that writes in a request that only reads (25006)',
  406: 'The schema or media type is not available, or a singular response would not have exactly one row (PGRST106, PGRST107, PGRST116)',
  409: 'A unique or foreign key constraint is violated (23505, 23503)',
  416: 'The offset is beyond the counted rows (PGRST103)',
  '4XX': 'The request was refused: codes of PostgreSQL (SQLSTATE) and of the interface',
  default: 'The request failed',
};

const always = ['300', '401', '403', '404', '4XX', 'default'];

/** Returns the errors, with those that only some operations have. */
export function errorResponses(own: readonly string[]): readonly DescribedResponse[] {
  return [...new Set([...own, ...always])].map((status) => ({
    status,
    description: descriptions[status]!,
    headers: [],
    content: { 'application/json': errorValue },
  }));
}
