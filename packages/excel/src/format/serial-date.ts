const dayMs = 86_400_000;
const daySeconds = 86_400;
/**
 * The day with the serial number 0, in days before 1970. Excel counts the day 1900-02-29, which did not exist: programs disagree about
 * the days before it.
 */
const epochDays = 25_569;
/** 1900-03-01, the first day whose number is the same in all programs. */
const firstSerial = 61;
const firstYear = 1900;

/** Returns the serial number of PostgreSQL's ISO text of a date; null: it is not in Excel's calendar. */
export function parseDate(text: string): number | null {
  return text.length === 10 ? serialDay(text) : null;
}

/** Returns the serial number of the local time of a timestamp, with or without an offset; null: it is not in Excel's calendar. */
export function parseTimestamp(text: string): number | null {
  if (text.length < 19 || text.endsWith('BC')) return null;
  const day = serialDay(text);
  const fraction = day === null ? null : dayFraction(text.slice(11).replace(/[+-].*$/, ''));
  return day === null || fraction === null ? null : day + fraction;
}

/** Returns the fraction of the day; null for 24:00:00. */
export function parseTime(text: string): number | null {
  return dayFraction(text);
}

function serialDay(text: string): number | null {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)(?:$| )/.exec(text) ?? [];
  // Date.UTC reads years below 100 as those of the 20th century.
  if (year === undefined || Number(year) < firstYear) return null;
  const serial = Date.UTC(Number(year), Number(month) - 1, Number(day)) / dayMs + epochDays;
  return serial < firstSerial ? null : serial;
}

function dayFraction(text: string): number | null {
  const [, hours, minutes, seconds] = /^(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(text) ?? [];
  if (hours === undefined || hours === '24') return null;
  return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) / daySeconds;
}
