import { freshDatabase, useDatabase } from '@pgway/testing';
import { expect, onTestFinished, test } from 'vitest';
import { scout } from '../support/scout.ts';

const database = useDatabase(`
  create table film (id int generated always as identity primary key, title text collate "C" default 'none' not null, twice int generated always as (1 + 1) stored);
  create index by_title on film (title) where title <> '';
  alter table film add constraint "Short" check (length(title) < 9);
  comment on constraint "Short" on film is 'It''s short';
  comment on column film.title is 'The title';
  create policy own on film using (true);
`);

function ddl(name: string): ReturnType<typeof scout> {
  return scout(['--ddl', name, '-c', database.connectionString]);
}

test('indexes, constraints, columns and policies have names in --ddl, and their statements run', async () => {
  const { code, stdout, stderr } = await ddl('film.title; film.twice; Short; film_pkey; index public.BY_*; own');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toBe(`-- POLICY public.film.own

CREATE POLICY own ON public.film
    USING (true);

-- COLUMN public.film.title

ALTER TABLE public.film ADD COLUMN title text COLLATE pg_catalog."C" DEFAULT 'none'::text NOT NULL;

COMMENT ON COLUMN public.film.title IS 'The title';

-- COLUMN public.film.twice

ALTER TABLE public.film ADD COLUMN twice integer GENERATED ALWAYS AS ((1 + 1)) STORED;

-- CONSTRAINT public.film."Short"

ALTER TABLE public.film ADD CONSTRAINT "Short" CHECK ((length(title) < 9));

COMMENT ON CONSTRAINT "Short" ON public.film IS 'It''s short';

-- CONSTRAINT public.film.film_pkey

ALTER TABLE public.film ADD CONSTRAINT film_pkey PRIMARY KEY (id);

-- INDEX public.by_title

CREATE INDEX by_title ON public.film USING btree (title) WHERE (title <> ''::text);
`);
  const copy = await freshDatabase('create table film (id int)');
  onTestFinished(() => copy.drop());
  await copy.query(stdout);
});

test('the name of a column alone, and a name that does not exist, are errors', async () => {
  expect((await ddl('title')).stderr).toBe('pgscout: no object is named "title"\n');
  expect((await ddl('film.no')).stderr).toContain('pgscout: no object is named "film.no"');
});
