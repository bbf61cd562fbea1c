begin;
set local role expenses_owner;

-- The claims of the caller are the columns of its login.
create function app.claim(_name text) returns text language sql stable set search_path = pg_catalog, pg_temp as $$
  select nullif(current_setting('request.claims', true), '')::json ->> _name
$$;
create function app.caller_id() returns int language sql stable set search_path = pg_catalog, pg_temp as $$
  select app.claim('id')::int
$$;
grant execute on function app.claim, app.caller_id to expenses_member;

create table app.person (
  id      int generated always as identity primary key,
  company text not null check (company <> ''),
  name    text not null check (name <> ''),
  email   text not null,
  role    text not null default 'member' check (role in ('member', 'approver')),
  hash    text,
  invitation    bytea unique,
  invited_until timestamptz
);
create unique index one_person_per_email on app.person (lower(email));

create table app.expense (
  id          int generated always as identity primary key,
  company     text not null default app.claim('company'),
  owner_id    int not null default app.caller_id() references app.person,
  owner       text not null default app.claim('name'),
  description text not null constraint description_of_1_to_200_characters check (length(description) between 1 and 200),
  amount      numeric(10, 2) not null constraint amount_is_positive check (amount > 0),
  spent_on    date not null constraint spent_since_2000 check (spent_on >= '2000-01-01'),
  status      text not null default 'submitted' check (status in ('submitted', 'approved', 'rejected')),
  decided_by  int references app.person,
  receipt     text
);
create index on app.expense (owner_id);
create index on app.expense (decided_by);
comment on constraint description_of_1_to_200_characters on app.expense is 'Describe the expense in 1 to 200 characters.';
comment on constraint amount_is_positive on app.expense is 'The amount must be more than 0.';
comment on constraint spent_since_2000 on app.expense is 'The date is before the year 2000.';

-- The log of changes has the company of a row: changes are looked up for the callers of that company only.
create unique index expense_changes on app.expense (id, company);
alter table app.expense replica identity using index expense_changes;
comment on table app.expense is '
HTTP GET /api/expenses
listing
changes by company = claim company';

create table app.receipt (
  expense_id int primary key references app.expense on delete cascade,
  id         uuid not null unique default gen_random_uuid(),
  format     text not null check (format in ('png', 'jpeg')),
  image      bytea not null
);

-- Row level security. `force` applies it to the owner of the tables too.
alter table app.person enable row level security, force row level security;
alter table app.expense enable row level security, force row level security;
alter table app.receipt enable row level security, force row level security;

create policy routines_that_sign_in on app.person to expenses_owner using (true);

create policy read_own on app.expense for select to expenses_member using (owner_id = (select app.caller_id()));
create policy read_company on app.expense for select to expenses_approver
  using (company = (select app.claim('company')));
create policy submit on app.expense for insert to expenses_member
  with check (owner_id = (select app.caller_id()) and status = 'submitted');
create policy change_own on app.expense for update to expenses_member
  using (owner_id = (select app.caller_id()) and status = 'submitted')
  with check (owner_id = (select app.caller_id()) and status = 'submitted');
create policy withdraw_own on app.expense for delete to expenses_member
  using (owner_id = (select app.caller_id()) and status = 'submitted');
create policy decide_on_others on app.expense for update to expenses_approver
  using (company = (select app.claim('company')) and owner_id <> (select app.caller_id()) and status = 'submitted')
  with check (company = (select app.claim('company')) and owner_id <> (select app.caller_id())
              and status <> 'submitted' and decided_by = (select app.caller_id()));
grant select, delete, insert (description, amount, spent_on), update (description, amount, spent_on, receipt)
  on app.expense to expenses_member;
grant update (status, decided_by) on app.expense to expenses_approver;

-- A receipt is visible with its expense, and changes with it.
create policy read_with_expense on app.receipt for select to expenses_member
  using (exists (select from app.expense where id = expense_id));
create policy change_with_expense on app.receipt to expenses_member
  using (exists (select from app.expense
                 where id = expense_id and owner_id = (select app.caller_id()) and status = 'submitted'));
grant select, insert, update, delete on app.receipt to expenses_member;

commit;
