/*
 * The health check of the image, which has no curl: exits with 0 while the server in the same container is alive.
 * PGWAY_HEALTH_URL is needed for another port, another `health.path`, or TLS.
 */
const url = process.env.PGWAY_HEALTH_URL || `http://127.0.0.1:${process.env.PGWAY_PORT || 8080}/health/live`;

try {
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(2000) });
  if (!response.ok) throw new Error(`status ${response.status}`);
} catch (error) {
  console.error(`${url}: ${error.cause?.message ?? error.message}`);
  process.exitCode = 1;
}
