-- A small lending library: two branches, some books, the people who borrow them.
--
-- Run once in an empty database, as any role that may create objects in it.
-- Rules live here, as types and constraints, so that no routine can forget one.


-- Types ---------------------------------------------------------------------------------

create type genre          as enum ('novel', 'drama', 'poetry', 'fantasy', 'history', 'science', 'children');
create type membership     as enum ('child', 'adult', 'staff');
create type copy_condition as enum ('new', 'good', 'worn', 'withdrawn');
create type weekday        as enum ('monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday');

create domain isbn  as text check (value ~ '^97[89][0-9]{10}$');
create domain email as text check (value ~ '^[^@[:space:]]+@[^@[:space:]]+$');
create domain euro  as numeric(8, 2) check (value >= 0);

create type address as (
  street   text,
  postcode text,
  city     text
);

create type loan_receipt as (
  loan_id int,
  title   text,
  member  text,
  due_on  date
);

comment on domain isbn is 'ISBN-13 without hyphens.';
comment on domain euro is 'An amount of money that is never negative.';
comment on type loan_receipt is 'What the counter prints for the borrower.';


-- The house -----------------------------------------------------------------------------

create table branch (
  id      int generated always as identity primary key,
  name    text not null unique,
  address address not null
);

create table opening_hours (
  branch_id int not null references branch,
  weekday   weekday not null,
  opens     time not null,
  closes    time not null,
  primary key (branch_id, weekday),
  constraint opens_before_it_closes check (opens < closes)
);


-- The catalogue -------------------------------------------------------------------------

create table author (
  id   int generated always as identity primary key,
  name text not null unique,
  born int
);

create table book (
  id        int generated always as identity primary key,
  isbn      isbn not null unique,
  title     text not null check (title <> ''),
  genre     genre not null,
  published int not null check (published <= 2100),
  century   int not null generated always as ((published + 99) / 100) stored
);

create table book_author (
  book_id   int not null references book,
  author_id int not null references author,
  place     int not null check (place > 0),
  primary key (book_id, author_id)
);

create table book_copy (
  id        int generated always as identity primary key,
  book_id   int not null references book,
  branch_id int not null references branch,
  shelf     text not null,
  place     int,
  condition copy_condition not null default 'new'
);

create table cover (
  book_id int primary key references book on delete cascade,
  format  text not null check (format in ('png', 'jpeg', 'gif', 'webp')),
  image   oid not null unique
);

create function unlink_image() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform lo_unlink(old.image);
  return null;
end
$$;
create trigger unlink_image after delete on cover for each row execute function unlink_image();

create unlogged table book_import (
  line   int not null,
  fields text[]
);

create index on book_author (author_id);
create index on book_copy (book_id);
create index on book_copy (branch_id, shelf);

comment on table book is 'A work in one edition; what stands on a shelf is a book_copy.';
comment on column book.published is 'Year of the first publication, not of the edition.';
comment on column book_author.place is 'Position of the name on the title page, from 1.';
comment on table cover is 'A large object; the trigger deletes it with its row.';
comment on table book_import is 'The lines of a CSV file, which import_books deletes before its transaction ends.';
comment on column book_copy.place is 'Position on the shelf, from 1; null until the shelf is indexed.';


-- The counter ---------------------------------------------------------------------------

create table member (
  id         int generated always as identity primary key,
  name       text not null check (name <> ''),
  email      email not null unique,
  membership membership not null default 'adult',
  address    address,
  joined_on  date not null default current_date,
  left_on    date,
  constraint joined_before_left check (joined_on <= left_on)
);

create table loan (
  id          int generated always as identity primary key,
  copy_id     int not null references book_copy,
  member_id   int not null references member,
  lent_on     date not null default current_date,
  days        int not null default 21,
  due_on      date not null generated always as (lent_on + days) stored,
  returned_at timestamptz,
  constraint one_day_to_nine_weeks check (days between 1 and 63)
);

create unique index a_copy_is_lent_once on loan (copy_id) where returned_at is null;
create index on loan (copy_id);
create index on loan (member_id);

create table reservation (
  id          int generated always as identity primary key,
  book_id     int not null references book,
  member_id   int not null references member,
  reserved_at timestamptz not null default now(),
  constraint one_reservation_each unique (book_id, member_id)
);
create index on reservation (member_id);

create table fine (
  loan_id int primary key references loan,
  amount  euro not null,
  paid_at timestamptz
);

create view current_loan as
  select loan.id as loan_id, copy_id, book_id, branch_id, member_id,
         book.title, member.name as member, lent_on, due_on
  from loan
    join book_copy on book_copy.id = copy_id
    join book on book.id = book_id
    join member on member.id = member_id
  where returned_at is null;

comment on table reservation is 'The queue for a book: the oldest reservation is served first.';
comment on table fine is 'What a late return costs; unpaid while paid_at is null.';
comment on column member.left_on is 'The day on which the membership ended; null for a present member.';
comment on view current_loan is 'Loans that are not returned yet.';
