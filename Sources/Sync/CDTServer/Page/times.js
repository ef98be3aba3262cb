// Times as they are read: relative to now, and exact on hover.
import {el, visible} from './dom.js'

const minute = 60_000
const clock = {hour: '2-digit', minute: '2-digit', hourCycle: 'h23'}

/** A time as "5 min ago", "today 01:49", "12 Aug 14:03" or "12 Aug 2025"; it is kept up to date while it is shown. */
function timeOf(time) {
  const date = new Date(time)
  if (isNaN(date)) return el('span', {}, visible(String(time), 60))
  return el('time', {datetime: date.toISOString(), title: date.toLocaleString('en-GB', {dateStyle: 'full', timeStyle: 'long'})}, relative(date))
}

/** When a revision was written to this store, and by which user, as far as the store knows. */
export function arrivalOf({arrival}) {
  return arrival ? [timeOf(arrival.get('time')), arrival.has('user') && ` by ${visible(arrival.get('user'), 60)}`] : null
}

function relative(date, now = new Date()) {
  const ago = now - date
  if (ago >= 0 && ago < minute) return 'just now'
  if (ago >= 0 && ago < 60 * minute) return `${Math.floor(ago / minute)} min ago`
  const [day, hour] = [date.toLocaleDateString('en-GB', {day: 'numeric', month: 'short'}), date.toLocaleTimeString('en-GB', clock)]
  const isDay = offset => new Date(now.getFullYear(), now.getMonth(), now.getDate() + offset).toDateString() === date.toDateString()
  if (isDay(0)) return `today ${hour}`
  if (isDay(-1)) return `yesterday ${hour}`
  return date.getFullYear() === now.getFullYear() ? `${day} ${hour}` : `${day} ${date.getFullYear()}`
}

setInterval(() => {
  for (const element of document.querySelectorAll('time')) {
    const text = relative(new Date(element.dateTime))
    if (element.textContent !== text) element.textContent = text
  }
}, minute / 2)
