"""Code shared by the admin's pages: bases, filters, values, and the site's look."""
