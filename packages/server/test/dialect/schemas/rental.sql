-- A shop that rents films: many-to-many, addresses, full text, partitions of payments, composite types, domains.
create schema rental;
create type rental.mpaa as enum ('G', 'PG', 'PG-13', 'R', 'NC-17');
create domain rental.year as int check (value between 1901 and 2155);
create domain rental.email as text check (position('@' in value) > 1);
create type rental.name as (first text, last text);
create table rental.country (country_id serial primary key, country text not null unique);
create table rental.city (city_id serial primary key, city text not null, country_id int not null references rental.country);
create table rental.address (
  address_id serial primary key, address text not null, address2 text, city_id int not null references rental.city,
  phone text not null default '', last_update timestamptz not null default now());
create table rental.language (language_id smallserial primary key, name char(20) not null);
create table rental.category (category_id smallserial primary key, name varchar(25) not null);
create table rental.actor (actor_id serial primary key, full_name rental.name not null, born date);
create table rental.film (
  film_id serial primary key, title text not null, description text, release_year rental.year,
  language_id smallint not null references rental.language, original_language_id smallint references rental.language,
  rental_rate numeric(4, 2) not null default 4.99, length smallint, rating rental.mpaa default 'G',
  special_features text[], fulltext tsvector generated always as (to_tsvector('simple', coalesce(title, ''))) stored);
create table rental.film_actor (
  actor_id int references rental.actor, film_id int references rental.film on delete cascade, role text, primary key (actor_id, film_id));
create table rental.film_category (
  film_id int references rental.film, category_id smallint references rental.category, primary key (film_id, category_id));
create table rental.store (
  store_id serial primary key, manager_staff_id int unique, address_id int not null references rental.address);
create table rental.staff (
  staff_id serial primary key, name text not null, address_id int not null references rental.address, email rental.email,
  store_id int not null references rental.store, active boolean not null default true, picture bytea);
alter table rental.store add constraint store_manager_fkey foreign key (manager_staff_id) references rental.staff;
create table rental.customer (
  customer_id serial primary key, store_id int not null references rental.store, name rental.name not null, email rental.email,
  address_id int not null references rental.address, create_date date not null default current_date);
create table rental.inventory (
  inventory_id serial primary key, film_id int not null references rental.film, store_id int not null references rental.store);
create table rental.rental (
  rental_id serial primary key, during tstzrange not null default tstzrange(now(), null), inventory_id int not null references rental.inventory,
  customer_id int not null references rental.customer, staff_id int references rental.staff);
create table rental.payment (
  payment_id serial, customer_id int not null references rental.customer, rental_id int references rental.rental,
  amount numeric(5, 2) not null, payment_date date not null, primary key (payment_date, payment_id)) partition by range (payment_date);
create table rental.payment_2024 partition of rental.payment for values from ('2024-01-01') to ('2025-01-01');
create table rental.payment_rest partition of rental.payment default;
create view rental.film_list as
  select f.film_id, f.title, f.rating, l.name as language, f.language_id from rental.film f join rental.language l using (language_id);
create view rental.customer_list as select customer_id, (name).first || ' ' || (name).last as full_name, store_id, address_id from rental.customer;
create materialized view rental.sales_by_store as select store_id, count(*) as customers from rental.customer group by store_id;
