"""Guidelines and dangers are pinned: an agent gets them unasked."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("episodic", "0008_rollbacks_go_on"),
        ("semantic", "0014_suggestions"),
        ("tenancy", "0008_scopes_in_words"),
    ]

    operations = [
        migrations.AddField(
            model_name="fact",
            name="is_pinned",
            field=models.GeneratedField(
                db_persist=True,
                expression=models.Case(
                    models.When(
                        models.Q(
                            ("category", "guideline"),
                            (
                                "fact__iregex",
                                "allerg|anaphyla|epi-?pen|intoleran|insulin|diabet|epilep|seizure|asthma|blood thinner|warfarin|penicillin|pacemaker|pregnan|coeliac|celiac|medication|prescri|\\m[0-9]+ ?(mg|µg|mcg|micrograms?)\\M|allergi|unverträglich|zöliakie|schwanger|medikament|alérgic|alergi|celíac|embaraz|cœliaque|enceinte|médicament|过敏|不耐|胰岛素|糖尿病|癫痫|哮喘|怀孕|吃药|服药|アレルギー|薬を",
                            ),
                            _connector="OR",
                        ),
                        then=models.Value(True),
                    ),
                    default=models.Value(False),
                ),
                help_text="Guidelines and what may endanger somebody: agents get them unasked.",
                output_field=models.BooleanField(),
            ),
        ),
        migrations.AddIndex(
            model_name="fact",
            index=models.Index(
                condition=models.Q(("invalid_at", None), ("is_pinned", True)),
                fields=["conversation", "created_at"],
                name="semantic_fact_pinned",
            ),
        ),
    ]
