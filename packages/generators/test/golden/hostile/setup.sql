-- Names and comments that would end a comment, a string, a template or a script, or be words of a language, if they were not data.

create schema "class";
create schema "*/ alert(1) /*";

create type "class"."mood `${1}`" as enum ('fine', 'it''s */ "quoted"', '</script>', E'two\nlines', '${x}', '', '{{host}}');

create type "class"."__proto__" as ("constructor" int, "*/" text, "a""b" timestamptz);

create function "class"."delete"("default" int, "__proto__" text, "*/ x" text default null, "${a}`" text default null)
returns table ("constructor" int, "with space" text, "quote""s" text, "*/" text, "emoji 😀" text, "`${1}`" text)
language sql stable as $$ select 1, "__proto__", "*/ x", "${a}`", 'e', 'f' $$;
comment on function "class"."delete" is 'Ends a comment: */ process.exit(1); /* and goes on.
A template `${process.exit(1)}`, a "quote", a ''quote'', a \ backslash, <script>alert(1)</script> and </script>.
@prompt password
@ts-ignore
{{host}}
HTTP GET /api/class/delete
### a request of its own
# @name forged
GET http://example.org/forged
The end ‮ of it.';

create function "class"."fetch"("moods" "class"."mood `${1}`"[]) returns setof "class"."mood `${1}`" language sql stable as
$$ select unnest("moods") $$;
comment on function "class"."fetch" is 'HTTP GET /api/fetch';

create function "class"."🤖 'robot' */"("😀" text) returns text language sql stable as $$ select "😀" $$;
comment on function "class"."🤖 'robot' */" is 'HTTP GET /api/🤖/*/robot';

create function "*/ alert(1) /*"."new
line"("a
b" int) returns int language sql stable as $$ select "a
b" * 2 $$;
comment on function "*/ alert(1) /*"."new
line" is E'HTTP GET /api/new-line\r\nThe comment has\rodd\u2028line ends.';

create function "class"."await"("let" "class"."__proto__", "in" jsonb default '{}') returns "class"."__proto__"
language sql as $$ select "let" $$;
comment on function "class"."await" is 'HTTP POST /api/await';

create function "class"."mood of"("mood" "class"."mood `${1}`") returns "class"."mood `${1}`" language sql stable as
$$ select "mood" $$;
comment on function "class"."mood of" is 'HTTP GET /api/mood/{mood}';

create function "class"."away"("id" int) returns int language sql stable as $$ select "id" $$;
comment on function "class"."away" is 'HTTP GET //example.org/{id}';

create function "class"."100%"("percent%" int default 1) returns int language sql stable as $$ select "percent%" $$;
comment on function "class"."100%" is 'HTTP GET /api/100%-[sure]';

-- Names that every JavaScript object inherits, and two endpoints that would have one name.

create function "class"."toString"("constructor" text, "toString" text default 'none', "valueOf" int default 0)
returns table ("toString" text, "isPrototypeOf" int) language sql stable as $$ select "toString", "valueOf" $$;
comment on function "class"."toString" is 'HTTP GET /api/constructor/{constructor}/{toString?}';

create function "class"."then"("valueOf" int default 0) returns int language sql stable as $$ select "valueOf" $$;
comment on function "class"."then" is 'HTTP GET /api/then';

create function "class"."then2"() returns int language sql stable as $$ select 2 $$;
comment on function "class"."then2" is 'HTTP GET /api/_then';

create table "class"."new `${1}` */" (
  "constructor" int primary key,
  "*/ </script>" text not null,
  "__proto__" "class"."mood `${1}`"
);
comment on table "class"."new `${1}` */" is 'HTTP
A table that ends */ a comment.';
