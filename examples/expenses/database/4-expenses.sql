begin;
set local role expenses_owner;

create function api.list_expenses() returns table (
  id int, owner text, description text, amount numeric, spent_on date, status text, receipt text, mine boolean
) language sql stable as $$
  select expense.id, person.name, description, amount, spent_on, status,
    (select format('/api/receipts/%s/%s', receipt.id, receipt.format) from app.receipt where expense_id = expense.id),
    owner_id = app.caller_id()
  from app.expense join app.person on person.id = owner_id
  order by spent_on desc, expense.id desc limit 200
$$;
comment on function api.list_expenses is 'HTTP GET /api/expenses
listen expenses_changed
info_path /live';

create function api.add_expense(_description text, _amount numeric, _spent_on date) returns int language sql as $$
  insert into app.expense (description, amount, spent_on) values (_description, _amount, _spent_on) returning id
$$;
comment on function api.add_expense is 'HTTP POST /api/expenses';

create function api.change_expense(_id int, _description text, _amount numeric, _spent_on date) returns void
language plpgsql as $$
begin
  update app.expense set description = _description, amount = _amount, spent_on = _spent_on where id = _id;
  if not found then
    raise no_data_found using message = 'You have no such expense, or it was decided.';
  end if;
end $$;
comment on function api.change_expense is 'HTTP PUT /api/expenses/{id}';

create function api.withdraw_expense(_id int) returns void language plpgsql as $$
begin
  delete from app.expense where id = _id;
  if not found then
    raise no_data_found using message = 'You have no such expense, or it was decided.';
  end if;
end $$;
comment on function api.withdraw_expense is 'HTTP DELETE /api/expenses/{id}';

create function api.decide(_id int, _approved boolean) returns void language plpgsql as $$
begin
  update app.expense set status = case when _approved then 'approved' else 'rejected' end, decided_by = app.caller_id()
  where id = _id;
  if not found then
    raise no_data_found using message = 'There is no such expense, or it was decided.';
  end if;
end $$;
comment on function api.decide is 'HTTP POST /api/expenses/{id}/decision
authorize approver';

create function api.add_receipt(_id int, _files json default null) returns void language plpgsql as $$
declare
  file json := _files -> 0;
  content oid := file ->> 'oid';
begin
  if json_array_length(_files) <> 1 or file ->> 'status' <> 'Ok' then
    raise exception 'Send one PNG or JPEG image.';
  end if;
  -- Large objects have no row level security: the content moves into a row.
  insert into app.receipt (expense_id, format, image)
  values (_id, split_part(file ->> 'contentType', '/', 2), lo_get(content))
  on conflict (expense_id) do update set id = excluded.id, format = excluded.format, image = excluded.image;
  perform lo_unlink(content);
end $$;
comment on function api.add_receipt is 'HTTP POST /api/expenses/{id}/receipt
upload for large_object, _files as metadata
included_mime_types = image/png, image/jpeg
check_image = png, jpeg';

create function api.get_receipt(_id uuid, _format text) returns bytea language plpgsql stable as $$
declare
  content bytea;
begin
  select image into strict content from app.receipt where id = _id and format = _format;
  return content;
end $$;
comment on function api.get_receipt is 'HTTP GET /api/receipts/{id}/{format}
Content-Type: image/{format}
Cache-Control: private, no-cache
tsclient = off';

grant execute on function api.list_expenses, api.add_expense, api.change_expense, api.withdraw_expense,
  api.add_receipt, api.get_receipt to expenses_member;
grant execute on function api.decide to expenses_approver;

-- The event says only that something has changed: every member receives it, and reads the own list again.
create function app.announce_change() returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_notify('expenses_changed', 'changed');
  return null;
end $$;
create trigger announce_change after insert or update or delete on app.expense
for each statement execute function app.announce_change();
create trigger announce_change after insert or update or delete on app.receipt
for each statement execute function app.announce_change();

commit;
