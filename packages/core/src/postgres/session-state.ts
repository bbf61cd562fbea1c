import type { PipelinedRequest } from './pipeline.ts';
import { type ConnectionMode, setRoleSteps } from './connection-mode.ts';
import type { Call, Step } from './port.ts';
import { ParameterStatusTracker } from './parameter-status.ts';
import { CallRequest } from './call-request.ts';
import { discardAll, setConfigSteps, type Settings } from './settings.ts';

/** What a session begins with. */
export interface InitialSettings {
  readonly settings: Settings;
  /** Milliseconds; 0 is without end. */
  readonly statementTimeout: number;
}

/** What is in a session on the server besides its statements: what it began with, and what calls have made of it. */
export class SessionState {
  readonly #manner: ConnectionMode;
  #reported: ParameterStatusTracker = new ParameterStatusTracker();
  #settings: Settings = {};
  /** Milliseconds; 0 is without end. */
  statementTimeout = 0;
  /** The role that the plans of the session are for; null: the one that it began with. Undefined: it may be any. */
  #role: string | null | undefined = null;
  /** A call has left this setting changed: the connection ends with the calls that are in flight. */
  taintedBy: string | null = null;

  constructor(manner: ConnectionMode) {
    this.#manner = manner;
    // The host may have used the connection before.
    if (manner.reset === 'close') this.#role = undefined;
  }

  /** No call may leave what the session began with changed, and a reset brings it back. */
  initialize(reported: ParameterStatusTracker, { settings, statementTimeout }: InitialSettings): void {
    this.#reported = reported;
    this.#settings = settings;
    this.statementTimeout = statementTimeout;
  }

  /** A ParameterStatus, whose body begins at `start`. */
  updateParameter(chunk: Buffer, start: number): void {
    this.#reported.update(chunk, start);
  }

  /** A setting that is not as it was; null when all are. */
  get changed(): string | null {
    return this.#reported.changedParameter;
  }

  /** The setting that a call has left changed, where the session is not reset behind it anyway; and whose plans it has left. */
  settingLeftBy(exchange: PipelinedRequest): string | null {
    if (!(exchange instanceof CallRequest)) return null;
    if (exchange.switchesRole && !exchange.hasSwitchedRole) this.#role = undefined;
    return exchange.call.altersSession === true || this.taintedBy !== null ? null : this.changed;
  }

  /** Whether the plans of the session were made for this role. */
  hasPlansFor(role: string | null): boolean {
    return this.#role === role;
  }

  /** Behind a pooler, and on a connection of the host's, the plans may be for any role. */
  switchesRole({ role }: Call): boolean {
    if (role === undefined) return false;
    return role !== this.#role || this.#manner.settingsPerCall !== null || this.#manner.isProvided;
  }

  /** A call without a role runs under that of the connection. */
  recordRole(role: string | null | undefined): void {
    // Routines that a statement of no role has called may have kept plans of another: both are there now.
    if (role !== undefined) this.#role = role;
    else if (this.#role !== null) this.#role = undefined;
  }

  /** Two transactions that bring the session back to how it began: the first statement cannot be in one with others. */
  get resetSteps(): readonly [readonly Step[], readonly Step[]] {
    return [[discardAll], [...setRoleSteps(null, false), ...setConfigSteps(this.#settings)]];
  }
}
