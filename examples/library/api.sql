-- The API of the library. A routine whose comment has a line that begins with HTTP is an
-- endpoint; the other lines of the comment adjust it, and plain sentences are just read.
--
-- What only reads is `stable` and becomes GET with a query string; the rest becomes POST with
-- a JSON body. `_book_id` is `bookId` outside. This file may be run again after a change.


-- The catalogue -------------------------------------------------------------------------

create or replace function search_catalogue(
  _text text default '', _genres genre[] default null, _limit int default 20
) returns setof book language sql stable as $$
  select * from book
  where title ilike '%' || _text || '%' and (_genres is null or genre = any (_genres))
  order by title limit _limit
$$;
comment on function search_catalogue is 'Books with a text in the title, of any of some genres.
HTTP GET /api/books';

create or replace function get_book(_id int) returns book language sql stable as $$
  select * from book where id = _id
$$;
comment on function get_book is 'HTTP GET /api/books/{id}';

create or replace function get_book_card(_id int) returns jsonb language sql stable as $$
  select jsonb_build_object(
    'title', title,
    'authors', array(
      select name from book_author join author on id = author_id where book_id = book.id order by place),
    'cover', (select format('/api/books/%s/cover/%s', book_id, cover.format) from cover where book_id = book.id),
    'copies', array(
      select jsonb_build_object('id', id, 'shelf', shelf, 'condition', condition)
      from book_copy where book_id = book.id order by id))
  from book where id = _id
$$;
comment on function get_book_card is 'HTTP GET /api/books/{id}/card
The value in the path is the parameter of that name.';

create or replace function get_authors(_isbn isbn) returns text[] language sql stable as $$
  select array(
    select name from book join book_author on book_id = book.id join author on author.id = author_id
    where isbn = _isbn order by place)
$$;
comment on function get_authors is 'HTTP';

create or replace function suggest_titles(_prefix text)
returns setof text language sql stable as $$
  select title from book
  where starts_with(lower(title), lower(_prefix)) order by title
$$;
comment on function suggest_titles is 'HTTP';

create or replace function reading_list(variadic _book_ids int[])
returns table (place bigint, title text, published int) language sql stable as $$
  select place, title, published
  from unnest(_book_ids) with ordinality as wanted (book_id, place) join book on id = book_id order by place
$$;
comment on function reading_list is 'The given books in the given order; repeat the key in the query.
HTTP';

create or replace function count_copies(_book_id int, _condition copy_condition default null)
returns int language sql stable as $$
  select count(*)::int
  from book_copy where book_id = _book_id and (_condition is null or condition = _condition)
$$;
comment on function count_copies is 'HTTP';

create or replace function is_available(_book_id int) returns boolean language sql stable as $$
  select exists (
    select from book_copy left join current_loan on copy_id = id
    where book_copy.book_id = _book_id and condition <> 'withdrawn' and loan_id is null)
$$;
comment on function is_available is 'Tells whether a copy is on the shelf.
HTTP
The lines below would suit any routine. They go by its tags, and volatility is one.
tags stable, immutable
Cache-Control: max-age=60
tags volatile
Cache-Control: no-store';

create or replace function add_book(
  _isbn isbn, _title text, _genre genre, _published int, _authors text[] default '{}'
) returns book language sql as $$
  with added as (
    insert into book (isbn, title, genre, published) values (_isbn, _title, _genre, _published) returning *
  ), writer as (
    insert into author (name) select distinct unnest(_authors)
    on conflict (name) do update set name = excluded.name
    returning id, name
  ), credit as (
    insert into book_author select added.id, writer.id, array_position(_authors, name) from added, writer
  )
  select * from added
$$;
comment on function add_book is 'HTTP
A known ISBN breaks a unique constraint and is answered with 409.';

create or replace function set_cover(_id int, _files json default null) returns text language plpgsql as $$
declare
  file json := _files -> 0;
  kind text := split_part(file ->> 'contentType', '/', 2);
begin
  if json_array_length(_files) <> 1 then
    raise exception 'Send one image.';
  elsif file ->> 'status' <> 'Ok' then
    raise exception '% is refused: %.', file ->> 'fileName', file ->> 'status'
      using hint = 'A cover is a PNG, JPEG, GIF or WebP image.';
  end if;

  delete from cover where book_id = _id;
  insert into cover (book_id, format, image) values (_id, kind, (file ->> 'oid')::oid);
  return format('/api/books/%s/cover/%s', _id, kind);
end
$$;
comment on function set_cover is 'Takes the image of a form as a large object, and gives the URL of the new cover.
HTTP POST /api/books/{id}/cover
upload for large_object
param _files is upload metadata
included_mime_types = image/png, image/jpeg, image/gif, image/webp
check_image = png, jpeg, gif, webp
An exception that the routine raises rolls the upload back, too: the large object is gone.';

create or replace function get_cover(_id int, _format text) returns bytea language sql stable as $$
  select lo_get(image) from cover where book_id = _id and format = _format
$$;
comment on function get_cover is 'HTTP GET /api/books/{id}/cover/{format}
Content-Type: image/{format}
response_null = no_content';

create or replace function import_books(_files json default null)
returns table (line int, isbn text, title text, problem text) language plpgsql as $$
declare
  heading constant text := 'isbn,title,genre,published,authors';
  entry book_import;
begin
  if json_array_length(_files) <> 1 then
    raise exception 'Send one CSV file.';
  elsif _files -> 0 ->> 'status' <> 'Ok' then
    raise exception '% is no CSV file: %.', _files -> 0 ->> 'fileName', _files -> 0 ->> 'status';
  elsif not exists (
    select from book_import where book_import.line = 1 and array_to_string(fields, ',') = heading) then
    raise exception 'The first line is not %.', heading;
  end if;

  for entry in select * from book_import where book_import.line > 1 order by book_import.line loop
    line := entry.line;
    isbn := entry.fields[1];
    title := entry.fields[2];
    begin
      perform add_book(isbn, title, entry.fields[3]::genre, entry.fields[4]::int,
        string_to_array(coalesce(entry.fields[5], ''), ';'));
      problem := null;
    exception
      when unique_violation then problem := 'There is a book with this ISBN.';
      when data_exception or integrity_constraint_violation then problem := sqlerrm;
    end;
    return next;
  end loop;
  delete from book_import;
end
$$;
comment on function import_books is 'Adds the books of a CSV file, and tells for each line which problem kept its book out.
HTTP
upload for csv
param _files is upload metadata
row_command = insert into book_import (line, fields) values ($1, $2)
The row command runs for every line in the transaction of the call, which other calls do not see.';


-- The counter ---------------------------------------------------------------------------

create or replace function late_fee(_due_on date, _on date default current_date)
returns euro language sql immutable as $$
  select least(10.00, 0.20 * greatest(0, _on - _due_on))::euro
$$;
comment on function late_fee is 'Twenty cents a day, ten euros at most.
HTTP';

create or replace function lend_copy(_copy_id int, _member_id int, _days int default 21)
returns loan_receipt language plpgsql as $$
declare
  wanted   book_copy;
  borrower member;
  next_up  int;
  receipt  loan_receipt;
begin
  select * into wanted from book_copy where id = _copy_id;
  if not found or wanted.condition = 'withdrawn' then
    raise exception 'There is no copy %.', _copy_id;
  end if;

  select * into borrower from member where id = _member_id and left_on is null;
  if not found then
    raise exception 'There is no member %.', _member_id;
  elsif exists (select from fine join loan on id = loan_id where member_id = _member_id and paid_at is null) then
    raise exception '% has unpaid fines.', borrower.name using hint = 'Pay them first.';
  end if;

  select member_id into next_up
  from reservation where book_id = wanted.book_id order by reserved_at, id limit 1;
  if next_up <> _member_id then
    raise exception 'Copy % is reserved for another member.', _copy_id;
  end if;

  insert into loan (copy_id, member_id, days) values (_copy_id, _member_id, _days)
  returning id, due_on into receipt.loan_id, receipt.due_on;
  delete from reservation where book_id = wanted.book_id and member_id = _member_id;

  receipt.member := borrower.name;
  receipt.title := (select title from book where id = wanted.book_id);
  return receipt;
end
$$;
comment on function lend_copy is 'HTTP
An exception that the routine raises is answered with 400 and its message.
A unique index refuses a copy that is lent already, with 409, even when two desks try at once.';

create or replace function return_copy(_copy_id int) returns euro language plpgsql as $$
declare
  ended loan;
  fee   euro;
begin
  update loan set returned_at = now() where copy_id = _copy_id and returned_at is null returning * into ended;
  if not found then
    raise exception 'Copy % is not on loan.', _copy_id;
  end if;

  fee := late_fee(ended.due_on);
  if fee > 0 then
    insert into fine (loan_id, amount) values (ended.id, fee);
  end if;
  return fee;
end
$$;
comment on function return_copy is 'Gives the fee to pay. The scanner at the desk can only append to a URL.
HTTP POST
request_param_type query_string';

create or replace procedure reserve_book(_book_id int, _member_id int, inout _place int default null)
language plpgsql as $$
begin
  insert into reservation (book_id, member_id) values (_book_id, _member_id);
  _place := (select count(*) from reservation where book_id = _book_id);
end
$$;
comment on procedure reserve_book is 'Gives the place in the queue. A value sent as place is ignored.
HTTP';

create or replace function cancel_reservation(_id int) returns void language sql as $$
  delete from reservation where id = _id
$$;
comment on function cancel_reservation is 'HTTP DELETE /api/reservations/{id}';


-- The members ---------------------------------------------------------------------------

create or replace function join_library(
  _name text, _email email, _membership membership default 'adult', _address address default null
) returns member language sql as $$
  insert into member (name, email, membership, address) values (_name, _email, _membership, _address) returning *
$$;
comment on function join_library is 'HTTP POST /api/members';

create or replace function get_membership(_member_id int) returns membership language sql stable as $$
  select membership from member where id = _member_id and left_on is null
$$;
comment on function get_membership is 'HTTP';

create or replace function get_last_return(_member_id int) returns timestamptz language sql stable as $$
  select max(returned_at) from loan where member_id = _member_id
$$;
comment on function get_last_return is 'Empty for a member who never brought a book back.
HTTP';

create or replace function get_statement(_member_id int) returns json language sql stable as $$
  select json_build_object(
    'name', name,
    'onLoan', array(
      select json_build_object('title', title, 'dueOn', due_on)
      from current_loan where member_id = member.id order by due_on),
    'toPay', (select coalesce(sum(amount), 0)
              from fine join loan on loan.id = loan_id where member_id = member.id and paid_at is null))
  from member where id = _member_id
$$;
comment on function get_statement is 'HTTP GET /api/members/{memberId}/statement';

create or replace function pay_fines(_member_id int) returns euro language sql as $$
  with paid as (
    update fine set paid_at = now() from loan
    where id = loan_id and member_id = _member_id and paid_at is null returning amount
  )
  select coalesce(sum(amount), 0)::euro from paid
$$;
comment on function pay_fines is 'HTTP POST /api/members/{memberId}/payments';


-- The back office -----------------------------------------------------------------------

create or replace function get_overdue(_on date default current_date, _branch_id int default null)
returns table (due_on date, days_late int, title text, member text) language sql stable as $$
  select due_on, _on - due_on, title, member
  from current_loan
  where due_on < _on and (_branch_id is null or branch_id = _branch_id)
  order by due_on
$$;
comment on function get_overdue is 'HTTP';

create or replace function export_overdue(_branch_id int, _on date default current_date)
returns text language sql stable as $$
  select concat_ws(E'\n', 'due,title,member',
    string_agg(format('%s,"%s","%s"', due_on, replace(title, '"', '""'), replace(member, '"', '""')), E'\n'))
  from get_overdue(_on, _branch_id)
$$;
comment on function export_overdue is 'The same list for a spreadsheet; the file is named after the parameter.
HTTP
Content-Type: text/csv; charset=utf-8
Content-Disposition: attachment; filename="overdue-{branchId}.csv"';

create or replace function branch_statistics(
  _branch_id int, out titles int, out copies int, out on_loan int, out share_on_loan numeric
) language sql stable as $$
  select count(distinct book_copy.book_id)::int, count(*)::int, count(loan_id)::int,
         round(count(loan_id)::numeric / nullif(count(*), 0), 2)
  from book_copy left join current_loan on copy_id = id
  where book_copy.branch_id = _branch_id
$$;
comment on function branch_statistics is 'HTTP GET /api/branches/{branchId}/statistics';

create or replace function shelf_list(_branch_id int) returns setof record language sql stable as $$
  select shelf, place, title, condition
  from book_copy join book on book.id = book_id
  where branch_id = _branch_id order by shelf, place
$$;
comment on function shelf_list is 'HTTP';

create or replace function escape_html(_text text) returns text language sql immutable as $$
  select replace(replace(replace(_text, '&', '&amp;'), '<', '&lt;'), '"', '&quot;')
$$;
comment on function escape_html is 'Not published, because no line here begins with HTTP. It is a building
block of the page below, and no client should come to depend on it.';

create or replace function get_opening_hours(_branch_id int) returns text language sql stable as $$
  select format('<!doctype html><title>%1$s</title><h1>%1$s</h1><table>%2$s</table>', escape_html(name),
    string_agg(format('<tr><th>%s<td>%s to %s', weekday, left(opens::text, 5), left(closes::text, 5)),
               '' order by weekday))
  from branch join opening_hours on branch_id = id where id = _branch_id group by name
$$;
comment on function get_opening_hours is 'HTTP GET /api/branches/{branchId}/opening-hours
content_type = text/html; charset=utf-8';

create or replace function set_opening_hours(_branch_id int, _hours jsonb) returns void language sql as $$
  delete from opening_hours where branch_id = _branch_id;
  insert into opening_hours
  select _branch_id, day.*
  from jsonb_to_recordset(_hours) as day (weekday weekday, opens time, closes time)
$$;
comment on function set_opening_hours is 'Replaces the whole week.
HTTP
The next lines say the same as a method and a path after HTTP.
method = put
path = /api/branches/{branchId}/opening-hours';

create or replace procedure reindex_shelves(_branch_id int) language plpgsql as $$
declare
  this_shelf text;
  moved int;
begin
  for this_shelf in select distinct shelf from book_copy where branch_id = _branch_id order by shelf loop
    update book_copy set place = sorted.place
    from (select book_copy.id, row_number() over (order by title, book_copy.id) as place
          from book_copy join book on book.id = book_id
          where branch_id = _branch_id and shelf = this_shelf) as sorted
    where book_copy.id = sorted.id and book_copy.place is distinct from sorted.place;
    get diagnostics moved = row_count;
    raise info 'Shelf %: % moved.', this_shelf, moved;
    perform pg_sleep(0.2);
  end loop;
end
$$;
comment on procedure reindex_shelves is 'Sorts every shelf by title and raises a notice for each one as it goes.
HTTP
info_path';

create or replace function weed_copies(_branch_id int) returns void language sql as $$
  update book_copy set condition = 'withdrawn' where branch_id = _branch_id and condition = 'worn'
$$;
comment on function weed_copies is 'HTTP
Waits for a decision of the council; the last line keeps it unpublished until then.
disabled';
