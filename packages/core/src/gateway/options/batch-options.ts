/** Batches: several requests in one transaction. */
export interface BatchOptions {
  /** The path of batches, such as `/api/batch`; null: there are none. */
  readonly batchPath: string | null;
  /** The maximum number of requests in a batch; more get a 400. Default 100. */
  readonly maxBatchItems: number;
  /**
   * The maximum size of all responses of a batch together in bytes; a larger one gets a 400, and the transaction is rolled back. Default
   * 8,388,608.
   */
  readonly maxBatchResponseSize: number;
}

export const batchDefaults: BatchOptions = Object.freeze({
  batchPath: null,
  maxBatchItems: 100,
  maxBatchResponseSize: 8 * 1024 * 1024,
});
