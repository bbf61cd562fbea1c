import type { PipelinedRequest } from './pipeline.ts';
import { type ConnectionMode, setRoleSteps } from './connection-mode.ts';
import type { Call, Step } from './port.ts';
import { ParameterStatusTracker } from './parameter-status.ts';
import { CallRequest } from './call-request.ts';
import { discardAll, setConfigSteps, type Settings } from './settings.ts';

/** The settings of a session before its first call. */
export interface InitialSettings {
  readonly settings: Settings;
  readonly applicationName: string;
  readonly serverProcess: string | null;
  /** Milliseconds; 0 means no timeout. */
  readonly statementTimeout: number;
}

/** The server-side state of a session except its prepared statements: initial settings, and changes by calls. */
export class SessionState {
  readonly #mode: ConnectionMode;
  #parameters: ParameterStatusTracker = new ParameterStatusTracker();
  #settings: Settings = {};
  applicationName = '';
  /** The process of the server, and when that server was started; null behind a pooler in transaction mode, where it changes. */
  serverProcess: string | null = null;
  /** Milliseconds; 0 means no timeout. */
  statementTimeout = 0;
  /** The role that the plans of the session were made for. Null: the initial role. Undefined: unknown. */
  #role: string | null | undefined = null;
  /** The setting that a call left changed. The connection is closed after the calls in the pipeline. */
  taintedBy: string | null = null;
  /** Whether the calls that were sent last have generic plans by the setting of the session; null: unknown. */
  hasGenericPlans: boolean | null = false;
  /** Whether the pool is about to close the connection: no further call may share it. */
  isRetired = false;
  /** Whether the server was selected because it accepts writes (`target_session_attrs`). */
  mustAcceptWrites = false;

  constructor(mode: ConnectionMode) {
    this.#mode = mode;
    // The host may have used the connection before, under any role.
    if (mode.reset === 'close') this.#role = undefined;
  }

  /** Sets the initial state, which calls must not change and a reset restores. */
  initialize(
    parameters: ParameterStatusTracker,
    { settings, applicationName, serverProcess, statementTimeout }: InitialSettings,
  ): void {
    this.#parameters = parameters;
    this.#settings = settings;
    this.applicationName = applicationName;
    this.serverProcess = serverProcess;
    this.statementTimeout = statementTimeout;
  }

  /** Reads a ParameterStatus whose body begins at `start`. */
  updateParameter(chunk: Buffer, start: number): void {
    this.#parameters.update(chunk, start);
  }

  /** A setting that differs from its initial value; null for none. */
  get changedSetting(): string | null {
    return this.#parameters.changedParameter;
  }

  /** Returns the setting that a call left changed, unless the session is reset after the call. Updates the role of the plans. */
  settingLeftBy(request: PipelinedRequest): string | null {
    if (!(request instanceof CallRequest)) return null;
    if (request.switchesRole && !request.hasSwitchedRole) this.#role = undefined;
    return request.call.altersSession === true || this.taintedBy !== null ? null : this.changedSetting;
  }

  /** Marks the session, and the calls that were sent behind one that left a setting changed: their rows may be wrong. */
  taint(setting: string, followers: readonly PipelinedRequest[]): void {
    this.taintedBy = setting;
    for (const request of followers) if (request instanceof CallRequest) request.taintedBy = setting;
  }

  /** Returns 0 for a call that needs the state that the session has, 1 for another plan mode, 2 for the plans of another role. */
  costOfChange({ role, plan = null }: Pick<Call, 'role' | 'plan'>): number {
    if (role !== undefined && role !== this.#role) return 2;
    return this.hasGenericPlans === (plan !== null && plan.isGeneric) ? 0 : 1;
  }

  /** Returns whether a call has to discard plans. Behind a pooler or on a host-provided connection, their role is unknown. */
  switchesRole({ role }: Pick<Call, 'role'>): boolean {
    if (role === undefined) return false;
    return role !== this.#role || this.#mode.settingsPerCall !== null || this.#mode.isProvided;
  }

  /** Records the role under which a call is planned. */
  recordRole(role: string | null | undefined): void {
    // A call without a role runs under the initial one; plans of another role may remain in routines.
    if (role !== undefined) this.#role = role;
    else if (this.#role !== null) this.#role = undefined;
  }

  /** The role of the plans is unknown: a step that discards them may not have run. */
  forgetRole(): void {
    this.#role = undefined;
  }

  /** The steps of two transactions that restore the initial state; `DISCARD ALL` must run alone. */
  get resetSteps(): readonly [readonly Step[], readonly Step[]] {
    return [[discardAll], [...setRoleSteps(null, false), ...setConfigSteps(this.#settings)]];
  }
}
