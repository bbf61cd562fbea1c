/** Settings of earlier versions, by path, with what to do instead. Messages about unknown settings contain it. */
export const removedSettings: Readonly<Record<string, string>> = {
  'health.enabled': 'remove it, or set health.path to null to turn health checks off',
  'metrics.enabled': 'set metrics.path, such as /metrics, to serve metrics, or to null',
  'cors.enabled': 'list the origins in cors.origins, or remove cors to turn it off',
  'staticFiles.enabled': 'set staticFiles.root to the folder, such as public, or to null to serve no files',
  'gateway.fieldErrorStatus': 'set gateway.fieldErrors to the status, such as 422',
};
