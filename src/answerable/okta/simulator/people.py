"""Names from which a tenant is made."""

FIRST_NAMES = (
    "Ada", "Ahmed", "Aiko", "Alejandro", "Amara", "Anna", "Arjun", "Astrid", "Ben", "Björn", "Camille", "Carlos",
    "Chiara", "Chloé", "Daniel", "Dina", "Elena", "Emeka", "Emma", "Fatima", "Felix", "Gabriel", "Grace", "Hana",
    "Hugo", "Ines", "Ivan", "James", "Jing", "Jonas", "José", "Julia", "Kofi", "Lara", "Leila", "Liam", "Lucía",
    "Magnus", "Maria", "Mateo", "Maya", "Mei", "Mohammed", "Nadia", "Nils", "Noah", "Olga", "Omar", "Paula", "Pierre",
    "Priya", "Rafael", "Rosa", "Ruth", "Samuel", "Sara", "Søren", "Sofia", "Tariq", "Thomas", "Vera", "Viktor",
    "Wei", "Yusuf", "Zoë",
)  # fmt: skip
LAST_NAMES = (
    "Adeyemi", "Andersen", "Bauer", "Becker", "Bianchi", "Brown", "Chen", "Costa", "Diallo", "Dubois", "Eriksson",
    "Fernández", "Fischer", "García", "Haddad", "Hansen", "Hernández", "Ito", "Ivanova", "Jansen", "Johnson", "Kaya",
    "Khan", "Kim", "Kowalski", "Larsson", "Lee", "Lindqvist", "López", "Martin", "Meyer", "Moreau", "Müller",
    "Nakamura", "Nguyen", "Novak", "O'Brien", "Okafor", "Patel", "Petrov", "Popescu", "Ricci", "Rossi", "Santos",
    "Sato", "Schmidt", "Silva", "Singh", "Smith", "Svensson", "Tanaka", "Taylor", "Torres", "Virtanen", "Wagner",
    "Walker", "Wang", "Weber", "Williams", "Wright", "Yamamoto", "Yılmaz", "Zhang", "Zimmermann",
)  # fmt: skip
DEPARTMENTS = {
    "Engineering": ("Software Engineer", "Engineering Manager", "Data Engineer", "Site Reliability Engineer"),
    "Sales": ("Account Executive", "Sales Manager", "Sales Engineer"),
    "Finance": ("Accountant", "Controller", "Financial Analyst"),
    "Marketing": ("Content Designer", "Marketing Manager", "Campaign Analyst"),
    "Support": ("Support Agent", "Support Lead"),
    "People": ("Recruiter", "People Partner"),
    "Legal": ("Counsel", "Paralegal"),
    "IT": ("Systems Administrator", "Identity Engineer", "Service Desk Agent"),
    "Operations": ("Operations Analyst", "Procurement Manager"),
}
CITIES = {
    "Berlin": ("DE", 52.52, 13.4, "203.0.113"),
    "Madrid": ("ES", 40.42, -3.7, "198.51.100"),
    "London": ("GB", 51.51, -0.13, "192.0.2"),
    "New York": ("US", 40.71, -74.01, "203.0.114"),
    "Singapore": ("SG", 1.35, 103.82, "198.51.101"),
    "São Paulo": ("BR", -23.55, -46.63, "192.0.3"),
}
"""Country, latitude, longitude, and the first numbers of addresses."""
APPLICATIONS = (
    ("Salesforce", "salesforce", "SAML_2_0"),
    ("GitHub", "github_enterprise", "SAML_2_0"),
    ("Slack", "slack", "SAML_2_0"),
    ("Google Workspace", "google", "SAML_2_0"),
    ("Microsoft 365", "office365", "WS_FEDERATION"),
    ("Jira", "jira", "SAML_2_0"),
    ("Confluence", "confluence", "SAML_2_0"),
    ("Workday", "workday", "SAML_2_0"),
    ("AWS", "amazon_aws", "SAML_2_0"),
    ("Zoom", "zoomus", "SAML_2_0"),
    ("Datadog", "datadog", "SAML_2_0"),
    ("PagerDuty", "pagerduty", "SAML_2_0"),
    ("HubSpot", "hubspot", "SAML_2_0"),
    ("Zendesk", "zendesk", "SAML_2_0"),
    ("NetSuite", "netsuite", "SAML_2_0"),
    ("Expensify", "expensify", "SAML_2_0"),
    ("DocuSign", "docusign", "SAML_2_0"),
    ("Figma", "figma", "SAML_2_0"),
    ("Tableau", "tableau", "SAML_2_0"),
    ("Snowflake", "snowflake", "SAML_2_0"),
    ("VPN", "palo_alto_vpn", "SAML_2_0"),
    ("Payroll Portal", "oidc_client", "OPENID_CONNECT"),
    ("Asset Register", "oidc_client", "OPENID_CONNECT"),
    ("Legacy Timesheets", "template_swa", "BROWSER_PLUGIN"),
    ("Company Wiki", "bookmark", "BOOKMARK"),
)
"""Label, name in Okta's catalogue, and sign-on mode."""
PROJECTS = ("apollo", "borealis", "cobalt", "delphi", "ember", "falcon", "granite", "harbor", "iris", "juniper")
DEVICE_MODELS = (
    ("MACOS", "APPLE", "MacBookPro18,1", "15.5.0"),
    ("WINDOWS", "LENOVO", "ThinkPad X1", "10.0.26100"),
    ("IOS", "APPLE", "iPhone15,4", "18.5.0"),
    ("ANDROID", "SAMSUNG", "Galaxy S24", "15"),
)
ROLES = {
    "SUPER_ADMIN": "Super Administrator",
    "ORG_ADMIN": "Organization Administrator",
    "APP_ADMIN": "Application Administrator",
    "USER_ADMIN": "Group Administrator",
    "HELP_DESK_ADMIN": "Help Desk Administrator",
    "READ_ONLY_ADMIN": "Read Only Administrator",
}
POLICY_TYPES = {
    "OKTA_SIGN_ON": "SIGN_ON",
    "PASSWORD": "PASSWORD",
    "MFA_ENROLL": "MFA_ENROLL",
    "ACCESS_POLICY": "ACCESS_POLICY",
    "PROFILE_ENROLLMENT": "PROFILE_ENROLLMENT",
    "IDP_DISCOVERY": "IDP_DISCOVERY",
}
"""Types of policies, and the type of their rules."""
