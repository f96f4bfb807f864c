"""What the admin's pages share: bases, filters, values, and the site's look."""
