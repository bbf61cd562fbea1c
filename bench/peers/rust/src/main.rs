//! A peer of the bench: hyper, and connections of tokio-postgres, which send statements in pipelines and are taken in turn.
//!
//! The first argument selects how rows become JSON: "rows" writes the values of the binary protocol, "json" lets PostgreSQL make the JSON
//! and sends it as it is.

mod json;

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Arc;

use hyper::header::{HeaderValue, CONTENT_TYPE};
use hyper::server::conn::AddrStream;
use hyper::service::{make_service_fn, service_fn};
use hyper::{Body, Method, Request, Response, Server, StatusCode};
use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, NoTls, Row, Statement};

use json::{write_item, write_rows, write_typed_item};

enum Failure {
    /// The request is wrong.
    Input(&'static str),
    NotFound,
    Database(tokio_postgres::Error),
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Failure::Database(error)
    }
}

struct Session {
    client: Client,
    add: Statement,
    plus: Statement,
    visit: Statement,
    items: Statement,
    typed: Statement,
}

const ITEMS: &str = "select id, reference, name, note, price::float8, score, active, created, due, attributes from bench.items($1)";
const TYPED: &str = "select id, small, big, price::float8, ratio, score, name, note, active, created, local, due, token, attributes, tags \
    from bench.typed($1)";

impl Session {
    async fn open(url: &str, makes_json: bool) -> Result<Session, tokio_postgres::Error> {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                eprintln!("{error}");
            }
        });
        client.batch_execute("set time zone 'UTC'").await?;
        let json = |routine: &str| format!("select coalesce(json_agg(t), '[]')::text from bench.{routine}($1) t");
        let (items, typed) = if makes_json { (ITEMS.to_owned(), TYPED.to_owned()) } else { (json("items"), json("typed")) };
        Ok(Session {
            add: client.prepare("select bench.add($1, $2)").await?,
            plus: client.prepare("select bench.plus($1, $2)").await?,
            visit: client.prepare("select bench.visit($1)").await?,
            items: client.prepare(&items).await?,
            typed: client.prepare(&typed).await?,
            client,
        })
    }

    async fn scalar(&self, statement: &Statement, values: &[&(dyn ToSql + Sync)]) -> Result<Vec<u8>, Failure> {
        let row = self.client.query_one(statement, values).await?;
        Ok(row.get::<_, i32>(0).to_string().into_bytes())
    }

    async fn list(&self, statement: &Statement, lim: i32, write: Option<fn(&mut Vec<u8>, &Row)>) -> Result<Vec<u8>, Failure> {
        match write {
            Some(write) => Ok(write_rows(&self.client.query(statement, &[&lim]).await?, write)),
            None => Ok(self.client.query_one(statement, &[&lim]).await?.get::<_, &str>(0).as_bytes().to_vec()),
        }
    }
}

struct Service {
    sessions: Vec<Session>,
    turn: AtomicUsize,
    makes_json: bool,
}

fn integer(query: &str, name: &str) -> Result<i32, Failure> {
    query
        .split('&')
        .find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))
        .and_then(|text| text.parse().ok())
        .ok_or(Failure::Input("the parameters must be integers"))
}

impl Service {
    async fn call(&self, request: Request<Body>) -> Result<Vec<u8>, Failure> {
        let session = &self.sessions[self.turn.fetch_add(1, Ordering::Relaxed) % self.sessions.len()];
        let (parts, body) = request.into_parts();
        let query = parts.uri.query().unwrap_or("");
        match (&parts.method, parts.uri.path()) {
            (&Method::GET, "/api/bench/add") => session.scalar(&session.add, &[&integer(query, "a")?, &integer(query, "b")?]).await,
            (&Method::GET, "/api/bench/plus") => session.scalar(&session.plus, &[&integer(query, "a")?, &integer(query, "b")?]).await,
            (&Method::GET, "/api/bench/items") => {
                session.list(&session.items, integer(query, "lim")?, self.makes_json.then_some(write_item)).await
            }
            (&Method::GET, "/api/bench/typed") => {
                session.list(&session.typed, integer(query, "lim")?, self.makes_json.then_some(write_typed_item)).await
            }
            (&Method::POST, "/api/bench/visit") => {
                let body = hyper::body::to_bytes(body).await.map_err(|_| Failure::Input("the body is incomplete"))?;
                let value: serde_json::Value = serde_json::from_slice(&body).map_err(|_| Failure::Input("the body must be JSON"))?;
                let id = value["id"].as_i64().and_then(|id| i32::try_from(id).ok());
                session.scalar(&session.visit, &[&id.ok_or(Failure::Input("id must be an integer"))?]).await
            }
            _ => Err(Failure::NotFound),
        }
    }

    async fn respond(&self, request: Request<Body>) -> Result<Response<Body>, Infallible> {
        let (status, kind, body) = match self.call(request).await {
            Ok(body) => (StatusCode::OK, "application/json", body.into()),
            Err(Failure::Input(message)) => (StatusCode::BAD_REQUEST, "text/plain", message.into()),
            Err(Failure::NotFound) => (StatusCode::NOT_FOUND, "text/plain", "not found".into()),
            Err(Failure::Database(error)) => {
                eprintln!("{error}");
                (StatusCode::INTERNAL_SERVER_ERROR, "text/plain", "the database failed".into())
            }
        };
        let mut response = Response::new(body);
        *response.status_mut() = status;
        response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        Ok(response)
    }
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set"))
}

async fn serve() {
    let makes_json = std::env::args().nth(1).as_deref() != Some("json");
    let pool: usize = variable("POOL").parse().expect("POOL must be a number");
    let port: u16 = variable("PORT").parse().expect("PORT must be a number");
    let mut sessions = Vec::with_capacity(pool);
    for _ in 0..pool {
        sessions.push(Session::open(&variable("DATABASE_URL"), makes_json).await.expect("the database must be reachable"));
    }
    let service = Arc::new(Service { sessions, turn: AtomicUsize::new(0), makes_json });
    let make = make_service_fn(move |_: &AddrStream| {
        let service = service.clone();
        async move {
            Ok::<_, Infallible>(service_fn(move |request| {
                let service = service.clone();
                async move { service.respond(request).await }
            }))
        }
    });
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    Server::bind(&address).tcp_nodelay(true).serve(make).await.expect("the server must run");
}

/// Uses one thread for each core.
fn main() {
    tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("the runtime must start").block_on(serve());
}
