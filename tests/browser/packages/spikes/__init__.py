"""Reads spikes. <script>window.hurt = 'module doc'</script><img src=x onerror="window.hurt='module'">"""

__version__ = "1.0<b>bold</b>"


def read_spikes(text):
    """Read the spikes <img src=x onerror="window.hurt='summary'"> out of a text.

    [click](javascript:window.hurt='link') <script>window.hurt = 'doc'</script>

    <iframe srcdoc="<script>parent.hurt='frame'</script>"></iframe> <svg onload="window.hurt='svg'">

    ![picture](http://outside.example/p.png) [outside](http://outside.example/page) `<code>`
    """
    return text.split()


class Spike:
    """A spike. ``</pre><script>window.hurt='pre'</script>``"""

    def _repr_html_(self):
        """Outputs are not trusted: this must never run."""
        return "<b>spike</b><script>window.hurt = 'output'</script><img src=x onerror=\"window.hurt='html'\">"
