// The queries that were run, which the browser keeps for each store until somebody logs out.
import {button, el, fill, visible} from './dom.js'

const kept = 30

function read() {
  try { return JSON.parse(localStorage.getItem('queries')) ?? {} } catch { return {} }
}

/** The browser may have no storage for the page. */
function write(queries) {
  try { localStorage.setItem('queries', JSON.stringify(queries)) } catch {}
}

/** Keeps a query as the newest one. */
export function keepQuery(store, query) {
  const queries = read()
  const key = JSON.stringify(query)
  write({...queries, [store]: [query, ...(queries[store] ?? []).filter(other => JSON.stringify(other) !== key)].slice(0, kept)})
}

export function forgetQueries() {
  try { localStorage.removeItem('queries') } catch {}
}

/** @param choose Called with a query that is chosen. */
export function historyMenu(store, choose) {
  const list = el('div')
  const menu = el('details', {class: 'menu'}, el('summary', {}, 'History'), list)
  menu.update = () => {
    const queries = read()[store] ?? []
    fill(list, queries.length ? queries.map(query => button(visible(query.selector.replace(/\s+/g, ' '), 80) + (query.sort && `, by ${visible(query.sort, 40)}`), () => {
      menu.open = false
      return choose(query)
    }, {title: visible(query.selector, 1_000)})) : 'No query was run yet.')
  }
  menu.update()
  return menu
}
