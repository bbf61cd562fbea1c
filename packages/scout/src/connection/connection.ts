import type { ConnectionSettings } from '@pgway/core/connection';
import type { Client } from 'pg';
import type { ConnectionName } from './connection-name.ts';

/** An open connection, and its description without a password. */
export interface Connection {
  readonly client: Client;
  readonly name: ConnectionName;
  /** With the password, if there is one. */
  readonly settings: ConnectionSettings;
}
