#!/bin/sh
# Writes passwords, keys and a certificate for localhost into the folder `secrets`. Existing files are kept.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
# The containers read them as different users, so that the folder is closed to others instead of the files.
chmod 700 secrets
umask 022

if [ -e secrets/pgway.json ]; then
  echo "secrets exist already: remove the folder $(pwd)/secrets to create new ones" >&2
  exit 1
fi

password() {
  openssl rand -hex 24
}
authenticator=$(password)
redis=$(password)

password >secrets/postgres-password
echo "$authenticator" >secrets/authenticator-password
echo "\"authenticator\" \"$authenticator\"" >secrets/pgbouncer-users
printf 'requirepass %s\n' "$redis" >secrets/redis.conf
openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 365 -subj /CN=localhost \
  -addext subjectAltName=DNS:localhost -keyout secrets/certificate.key -out secrets/certificate.crt 2>/dev/null
cat secrets/certificate.crt secrets/certificate.key >secrets/certificate.pem
rm secrets/certificate.crt secrets/certificate.key
# Last: it says that all files are there.
cat >secrets/pgway.json <<JSON
{
  "connectionString": "postgres://authenticator:$authenticator@pgbouncer:6432/app",
  "gateway": { "listenConnectionString": "postgres://authenticator:$authenticator@postgres:5432/app" },
  "redisCache": { "url": "redis://:$redis@redis:6379" },
  "redisRateLimits": { "url": "redis://:$redis@redis:6379" },
  "events": { "redisUrl": "redis://:$redis@redis:6379" },
  "dataProtection": { "secret": "$(password)" }
}
JSON
