begin;
set local role expenses_owner;

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
  path text;
begin
  if json_array_length(_files) <> 1 or file ->> 'status' <> 'Ok' then
    raise exception 'Send one PNG or JPEG image.';
  end if;
  -- Large objects have no row level security: the content moves into a row.
  insert into app.receipt (expense_id, format, image)
  values (_id, split_part(file ->> 'contentType', '/', 2), lo_get(content))
  on conflict (expense_id) do update set id = excluded.id, format = excluded.format, image = excluded.image
  returning format('/api/receipts/%s/%s', id, format) into path;
  perform lo_unlink(content);
  update app.expense set receipt = path where id = _id;
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

grant execute on function api.add_expense, api.change_expense, api.withdraw_expense,
  api.add_receipt, api.get_receipt to expenses_member;
grant execute on function api.decide to expenses_approver;

commit;
