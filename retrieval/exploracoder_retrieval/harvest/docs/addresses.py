"""Which addresses may be fetched from: each is checked before anything is sent to it.

A page can redirect elsewhere, and a name can resolve to a different machine at every lookup. So
names are resolved here, and connections are made only to addresses that were checked.
"""

from __future__ import annotations

import asyncio
import socket
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from urllib.request import getproxies, proxy_bypass

import httpx

from exploracoder_retrieval.errors import DocsUnavailable
from exploracoder_retrieval.web_access import trusted, unusable_proxy

_PORTS = {"http": 80, "https": 443}
# The prefix by which IPv6 networks reach IPv4 addresses.
_NAT64 = IPv6Network("64:ff9b::/96")


class JudgedTransport(httpx.AsyncBaseTransport):
    """Connects to public addresses, and to the host and port that the user named.

    That host may be this machine or in a private network. Its private addresses are fixed at the
    first request: any that appear later are refused. A proxy, if one is set, resolves names
    itself.

    Raises DocsUnavailable instead of connecting.
    """

    def __init__(self, named_url: httpx.URL) -> None:
        self._named_origin = _origin(named_url)
        self._named_private: frozenset[str] | None = None
        try:
            self._certificates = trusted()
        except OSError as error:
            raise DocsUnavailable(f"{named_url} cannot be fetched: {error}.") from None
        self._direct = httpx.AsyncHTTPTransport(verify=self._certificates)
        self._by_proxy: dict[str, httpx.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request, trying the addresses of its host one after another."""
        host, url = request.url.raw_host.decode("ascii"), request.url
        proxies = getproxies()
        proxy = None if proxy_bypass(host) else proxies.get(url.scheme) or proxies.get("all")
        if proxy is not None:
            if _is_address(host):
                self._judge(url, [host])
            return await self._via(proxy).handle_async_request(request)
        addresses = await _look_up(*_origin(url))
        self._judge(url, addresses)
        request.extensions = {**request.extensions, "sni_hostname": host}
        for number, address in enumerate(addresses, start=1):
            request.url = url.copy_with(host=address)
            try:
                return await self._direct.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                if number == len(addresses):
                    raise
        raise httpx.ConnectError(f"{host} has no address")

    async def aclose(self) -> None:
        """Close all connections."""
        for each in (self._direct, *self._by_proxy.values()):
            await each.aclose()

    def _via(self, proxy: str) -> httpx.AsyncHTTPTransport:
        if proxy not in self._by_proxy:
            try:
                address = proxy if "://" in proxy else f"http://{proxy}"
                self._by_proxy[proxy] = httpx.AsyncHTTPTransport(
                    proxy=address, verify=self._certificates
                )
            except (ImportError, ValueError, httpx.InvalidURL) as error:
                raise DocsUnavailable(f"{unusable_proxy(error)}.") from None
        return self._by_proxy[proxy]

    def _judge(self, url: httpx.URL, addresses: list[str]) -> None:
        private = frozenset(each for each in addresses if not is_public(each))
        if self._named_private is None:  # the first request goes to the host that the user named
            self._named_private = private
        allowed_addresses = (
            self._named_private if _origin(url) == self._named_origin else frozenset()
        )
        if others := private - allowed_addresses:
            raise DocsUnavailable(
                f"{url} is not fetched: {url.host} is {min(others)}, an address of this machine or"
                " of a private network, and was not what you named. If you mean it, name it."
            )


def is_public(address: str) -> bool:
    """Whether an IP address, in whatever notation, belongs to a machine on the internet."""
    ip: IPv4Address | IPv6Address = ip_address(address.partition("%")[0])
    if isinstance(ip, IPv6Address):
        ipv4 = IPv4Address(ip.packed[-4:]) if ip in _NAT64 else None
        ip = ip.ipv4_mapped or ip.sixtofour or ipv4 or ip
    return ip.is_global and not (ip.is_multicast or ip.is_reserved)


def _origin(url: httpx.URL) -> tuple[str, int]:
    return url.raw_host.decode("ascii"), url.port or _PORTS.get(url.scheme, 0)


def _is_address(host: str) -> bool:
    try:
        ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


async def _look_up(host: str, port: int) -> list[str]:
    try:
        infos = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx.ConnectError(f"{host} is not known ({error.strerror})") from None
    return list(dict.fromkeys(str(address[0]) for *_, address in infos))
