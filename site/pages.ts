import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, extname, join, posix, relative } from 'node:path';
import { headingAnchor, headings, pageAnchors } from './anchors.ts';

/** A page of the repository, and its place on the site. */
interface SitePage {
  /** Relative to the root of the checkout, with slashes. */
  readonly file: string;
  /** The path on the site, without extension: `guide/tls`. */
  readonly route: string;
  readonly title: string;
  readonly lines: readonly string[];
  readonly anchors: ReadonlySet<string>;
}

/** A group of the sidebar, as VitePress takes it. */
export interface SidebarGroup {
  readonly text: string;
  readonly collapsed: boolean;
  readonly items: readonly { readonly text: string; readonly link: string }[];
}

export interface SiteSources {
  /** The root of the checkout. */
  readonly root: string;
  /** The folder that receives the pages. Its content is replaced. */
  readonly target: string;
  /** The address of the repository, for links to its other files; null: a page of the site shows these. */
  readonly repository: string | null;
}

/** The folders and files with pages, and their places on the site. */
const places: readonly { readonly from: string; readonly to: string }[] = [
  { from: 'README.md', to: 'index' },
  { from: 'docs/guide/', to: 'guide/' },
  { from: 'docs/reference/', to: 'reference/' },
  { from: 'decisions/', to: 'decisions/' },
  { from: 'examples/library/README.md', to: 'project/example' },
  { from: 'examples/expenses/README.md', to: 'project/expenses' },
  { from: 'packages/server/README.md', to: 'project/pgway' },
  { from: 'packages/core/README.md', to: 'project/core' },
  { from: 'packages/excel/README.md', to: 'project/excel' },
  { from: 'packages/external-sign-in/README.md', to: 'project/external-sign-in' },
  { from: 'packages/generators/README.md', to: 'project/generators' },
  { from: 'packages/postgrest/README.md', to: 'project/postgrest' },
  { from: 'packages/realtime/README.md', to: 'project/realtime' },
  { from: 'packages/redis/README.md', to: 'project/redis' },
  { from: 'packages/embedded/README.md', to: 'project/embedded' },
  { from: 'packages/scout/README.md', to: 'project/scout' },
  { from: 'bench/README.md', to: 'project/benchmark' },
  { from: 'ARCHITECTURE.md', to: 'project/architecture' },
  { from: 'CONTRIBUTING.md', to: 'project/contributing' },
  { from: 'CHANGELOG.md', to: 'project/changelog' },
];

/**
 * Writes the pages of the repository for VitePress, and returns the sidebar.
 * @throws Error that names page and line of each link that leads to no file or heading
 */
export function preparePages({ root, target, repository }: SiteSources): readonly SidebarGroup[] {
  const pages = places.flatMap((place) => listPages(root, place));
  const byFile = new Map(pages.map((page) => [page.file, page]));
  const broken: string[] = [];
  const linkedFiles = new Set<string>();
  rmSync(target, { recursive: true, force: true });
  for (const page of pages) {
    const context = { root, target, repository, byFile, linkedFiles, broken };
    writePage(target, page.route, convertPage(page, context));
  }
  writePage(target, filesRoute, showFiles(root, [...linkedFiles].toSorted()));
  if (broken.length > 0) throw new Error(`links lead nowhere:\n${broken.join('\n')}`);
  return sidebar(pages, byFile.get('README.md')!);
}

const filesRoute = 'project/files';

function writePage(target: string, route: string, text: string): void {
  const file = join(target, `${route}.md`);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function listPages(root: string, { from, to }: (typeof places)[number]): readonly SitePage[] {
  if (!existsSync(join(root, from))) return [];
  const files = from.endsWith('/') ? readdirSync(join(root, from)).filter((name) => name.endsWith('.md')) : [''];
  return files.toSorted().map((name) => {
    const lines = readFileSync(join(root, from + name), 'utf8').split(/\r?\n/);
    const title = (headings(lines)[0] ?? from).replaceAll('`', '');
    return { file: from + name, route: to + name.replace(/\.md$/, ''), title, lines, anchors: pageAnchors(lines) };
  });
}

interface ConvertContext extends SiteSources {
  readonly byFile: ReadonlyMap<string, SitePage>;
  /** Receives each file and folder that a link leads to and that is no page. */
  readonly linkedFiles: Set<string>;
  /** Receives a line for each broken link. */
  readonly broken: string[];
}

/** Removes comments, which hold the hidden parts of examples, and converts links. Code blocks stay as they are. */
function convertPage(page: SitePage, context: ConvertContext): string {
  const converted: string[] = [];
  let inBlock = false;
  let inComment = false;
  for (const [index, line] of page.lines.entries()) {
    if (!inComment && line.startsWith('```')) inBlock = !inBlock;
    if (!inBlock && line.startsWith('<!--')) inComment = true;
    if (!inComment) converted.push(inBlock ? line : convertLinks(line, page, index + 1, context));
    if (inComment && line.endsWith('-->')) inComment = false;
  }
  return converted.join('\n');
}

/** The end of a link. Its text may begin in the line before. */
const linkPattern = /\]\(([^)\s]+)\)/g;
const imagePattern = /^!\[[^\]]*\]\(([^):\s]+)\)$/;

function convertLinks(line: string, page: SitePage, number: number, context: ConvertContext): string {
  const image = imagePattern.exec(line)?.[1];
  if (image !== undefined && copyImage(image, page, context)) return line;
  return line.replaceAll(linkPattern, (link, target: string) => {
    if (/^[a-z]+:/.test(target)) return link;
    const resolved = resolveLink(target, page, context);
    if (resolved === null) context.broken.push(`${page.file}:${number}: ${target}`);
    return `](${resolved ?? target})`;
  });
}

/** Copies an image to the same place beside its page. Returns false if it does not exist. */
function copyImage(path: string, { file, route }: SitePage, { root, target }: ConvertContext): boolean {
  const source = join(root, dirname(file), path);
  if (!existsSync(source)) return false;
  const copy = join(target, dirname(route), path);
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(source, copy);
  return true;
}

/** Returns the address of a link on the site; null when its file or heading does not exist. */
function resolveLink(target: string, page: SitePage, context: ConvertContext): string | null {
  const { root, repository, byFile, linkedFiles } = context;
  const [path = '', anchor] = target.split('#');
  const file = path === '' ? page.file : posix.normalize(posix.join(posix.dirname(page.file), decodeURI(path)));
  const linked = byFile.get(file) ?? byFile.get(posix.join(file, 'README.md')) ?? firstPageIn(file, byFile);
  if (linked !== undefined) {
    if (anchor !== undefined && !linked.anchors.has(anchor)) return null;
    return `/${linked.route}${anchor === undefined ? '' : `#${anchor}`}`;
  }
  if (!existsSync(join(root, file))) return null;
  if (repository !== null) return `${repository}/${isFolder(root, file) ? 'tree' : 'blob'}/main/${file}`;
  linkedFiles.add(file);
  return `/${filesRoute}#${headingAnchor(file)}`;
}

function firstPageIn(folder: string, byFile: ReadonlyMap<string, SitePage>): SitePage | undefined {
  const prefix = folder.endsWith('/') ? folder : `${folder}/`;
  return [...byFile.values()].find(({ file }) => file.startsWith(prefix));
}

function isFolder(root: string, file: string): boolean {
  return statSync(join(root, file)).isDirectory();
}

const languages: Readonly<Record<string, string>> = { '.sh': 'sh', '.yaml': 'yaml', '.yml': 'yaml', '.json': 'json' };

/** Returns a page with the content of files, and the names of the files in folders. */
function showFiles(root: string, files: readonly string[]): string {
  const sections = files.map((file) => {
    if (!isFolder(root, file)) {
      const language = languages[extname(file)] ?? 'text';
      return `## ${file}\n\n\`\`\`\`${language}\n${readFileSync(join(root, file), 'utf8').trimEnd()}\n\`\`\`\``;
    }
    const names = readdirSync(join(root, file), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => relative(root, join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
    return `## ${file}\n\n${names
      .toSorted()
      .map((name) => `* \`${name}\``)
      .join('\n')}`;
  });
  return `# Files of the repository\n\nThe files and folders that pages refer to.\n\n${sections.join('\n\n')}\n`;
}

/** The guide has the groups and the order of the list of documents in the README. */
function sidebar(pages: readonly SitePage[], readme: SitePage): readonly SidebarGroup[] {
  const documents = listDocuments(readme.lines);
  const group = (text: string, collapsed: boolean, shown: readonly SitePage[]): SidebarGroup => ({
    text,
    collapsed,
    items: shown.map(({ title, route }) => ({ text: title, link: `/${route}` })),
  });
  const under = (prefix: string): readonly SitePage[] => pages.filter(({ route }) => route.startsWith(prefix));
  const groups = [...documents].flatMap(([text, files]) => {
    const shown = files.flatMap((file) => under('guide/').filter((page) => page.file === file));
    return shown.length === 0 ? [] : [{ text, shown }];
  });
  const listed = new Set([...documents.values()].flat());
  const others = under('guide/').filter(({ file }) => !listed.has(file));
  return [
    // The group of the page that is shown is open, too.
    ...groups.map(({ text, shown }, index) => group(text, index > 0, shown)),
    ...(others.length === 0 ? [] : [group('More', true, others)]),
    group('Reference', true, under('reference/')),
    group('Project', true, under('project/')),
    group('Decisions', true, under('decisions/')),
  ];
}

/** Returns the pages that each heading of the list of documents links to, each page where it is linked first. */
function listDocuments(lines: readonly string[]): ReadonlyMap<string, readonly string[]> {
  const documents = new Map<string, string[]>();
  const seen = new Set<string>();
  let files: string[] = [];
  for (const line of lines.slice(Math.max(0, lines.indexOf('## Documentation')))) {
    const heading = /^### (.+)$/.exec(line)?.[1];
    if (heading !== undefined) documents.set(heading, (files = []));
    for (const [, target] of line.matchAll(linkPattern)) {
      const file = target!.split('#', 1)[0]!;
      if (seen.has(file)) continue;
      seen.add(file);
      files.push(file);
    }
  }
  return documents;
}
