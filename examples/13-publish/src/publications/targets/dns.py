"""DNS zone that accepts updates (RFC 2136). Each change is one update: the server makes all of it or nothing.

The TXT record `_owner.NAME` has the owner. Prerequisites let the server itself refuse an update if the owner changed.
"""

import dns.asyncquery
import dns.exception
import dns.message
import dns.name
import dns.rcode
import dns.tsigkeyring
import dns.update

from publications.targets.target import Entry, Lost, Unavailable


class DnsZone:
    """Zone on a primary server: `HOST:PORT/ZONE`. `key`: name and secret of a TSIG key, as `NAME:BASE64`."""

    has_ports = False

    def __init__(self, place: str, key: str = "") -> None:
        server, _, zone = place.partition("/")
        host, _, port = server.rpartition(":")
        self._server, self._port, self._zone = host, int(port), dns.name.from_text(zone)
        key_name, _, secret = key.partition(":")
        self._keys = dns.tsigkeyring.from_text({key_name: secret}) if key else None

    async def read(self, name: str, owner: str) -> Entry:
        """Return the records of a name."""
        owners, in_use = await self._find(f"_owner.{name}", "TXT")
        addresses = [text for type in ("A", "AAAA") for text in (await self._find(name, type))[0]]
        in_use |= (await self._find(name, "ANY"))[1]
        return Entry("".join(owners).strip('"'), frozenset(addresses), not in_use)

    async def write(self, name: str, owner: str, before: Entry, addresses: frozenset[str] | None) -> None:
        """Send the changed records alone. Without addresses, records of other types under the name stay."""
        update, full, mark = dns.update.UpdateMessage(self._zone, keyring=self._keys), f"{name}.", f"_owner.{name}."
        if before.is_free:
            update.absent(full)
            update.absent(mark)
            update.add(mark, 5, "TXT", f'"{owner}"')
        else:
            update.present(mark, "TXT", f'"{owner}"')
        if addresses is None:
            for deleted, type in ((mark, "TXT"), (full, "A"), (full, "AAAA")):
                update.delete(deleted, type)
        else:
            for address in sorted(before.addresses - addresses):
                update.delete(full, _type(address), address)
            for address in sorted(addresses - before.addresses):
                update.add(full, 5, _type(address), address)
        await self._send(update)

    async def _find(self, name: str, type: str) -> tuple[list[str], bool]:
        """Return the records of a type, and whether the name has records."""
        response = await self._send(dns.message.make_query(f"{name}.", type))
        return [data.to_text() for found in response.answer for data in found], bool(response.answer)

    async def _send(self, message: dns.message.Message) -> dns.message.Message:
        try:
            response = await dns.asyncquery.tcp(message, self._server, timeout=5, port=self._port)
        except (OSError, EOFError, dns.exception.DNSException) as error:
            raise Unavailable(f"DNS server {self._server}:{self._port}: {error}", after_s=5) from error
        code = response.rcode()
        if code in (dns.rcode.YXDOMAIN, dns.rcode.NXRRSET, dns.rcode.YXRRSET):
            raise Lost("another client changed the records", after_s=1)
        if code not in (dns.rcode.NOERROR, dns.rcode.NXDOMAIN):
            raise Unavailable(f"DNS server returns {dns.rcode.to_text(code)}", after_s=5)
        return response


def _type(address: str) -> str:
    return "AAAA" if ":" in address else "A"
